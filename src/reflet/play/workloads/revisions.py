"""ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had.

Upstream: pkg/controller/history/controller_history.go; pkg/controller/statefulset/stateful_set.go,
getStatefulSetRevisions
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from reflet.api.resources import CONTROLLER_REVISIONS
from reflet.play.actions import Action, Create, Delete, Document, Patch
from reflet.play.workloads.workload_pods import owner_reference, template_hash

LABEL: Final = "controller-revision-hash"  # of pods, and of the revisions of DaemonSets
HASH_LABEL: Final = "controller.kubernetes.io/hash"  # of the revisions of StatefulSets


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revision of the present template, its short name, and what has to be done for it.

    *kept* is every revision by its name, to make pods of an older one from.
    """

    name: str
    hash: str
    kept: dict[str, Document]
    actions: Sequence[Action]

    def template(self, name: str, workload: Document) -> Document:
        """The template of a revision; the present one where it is not known."""
        found = self.kept.get(name)
        if found is None or name == self.name:
            present: Document = workload["spec"]["template"]
            return present
        template = found["data"]["spec"]["template"]
        return {key: value for key, value in template.items() if key != "$patch"}


def revisions_of(
    workload: Document, found: Sequence[Document], used: Collection[str], label: str
) -> Revisions:
    """Find the revision of the present template, or make it; drop those that nobody needs.

    *label* is where a revision carries its short name.
    """
    template = {**workload["spec"]["template"], "$patch": "replace"}
    data = {"spec": {"template": template}}
    same = [each for each in found if each.get("data") == data]
    newest = max((each["revision"] for each in found), default=0)
    owner = workload["metadata"]
    revision: Document
    if not same:
        short = template_hash([data, owner["uid"]])
        revision = {
            "apiVersion": CONTROLLER_REVISIONS.api_version,
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"{owner['name']}-{short}",
                "namespace": owner["namespace"],
                "labels": {**(template.get("metadata", {}).get("labels") or {}), label: short},
                "annotations": owner.get("annotations") or {},
                "ownerReferences": [owner_reference(workload)],
            },
            "data": data,
            "revision": newest + 1,
        }
        actions: list[Action] = [Create(CONTROLLER_REVISIONS, revision)]
    else:
        revision, actions = same[0], []
        if revision["revision"] < newest:  # a rollback makes an old one the newest
            actions = [Patch(CONTROLLER_REVISIONS, revision, {"revision": newest + 1})]
        unused = [
            each
            for each in sorted(found, key=lambda each: int(each["revision"]))
            if each["metadata"]["name"] not in {*used, revision["metadata"]["name"]}
        ]
        surplus = max(len(unused) - workload["spec"].get("revisionHistoryLimit", 10), 0)
        actions += [Delete(CONTROLLER_REVISIONS, each) for each in unused[:surplus]]
    return Revisions(
        revision["metadata"]["name"],
        revision["metadata"]["labels"][label],
        {each["metadata"]["name"]: each for each in found},
        actions,
    )
