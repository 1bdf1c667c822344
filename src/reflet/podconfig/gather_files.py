"""A pod and what it needs, from files alone, read as if they had been applied.

What only a server knows stays unknown: tokens, addresses of services, events, and the node unless
the files hold it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.errors import ConfigurationError
from reflet.manifests.applied import AppliedManifests
from reflet.manifests.applying import read_applied
from reflet.manifests.files import FoundFile, Sources, SourceText, read_text, walk
from reflet.manifests.kustomizations import read_kustomization
from reflet.manifests.pod_targets import (
    PodTarget,
    choose_pod,
    is_called,
    no_pods,
    pod_targets,
)
from reflet.manifests.rendering import kustomization_of
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs, RefusedObject, unknown_token
from reflet.resolution.resource_fields import UNKNOWN_NODE, NodeInHand
from reflet.resolution.templates.service_account_volume import DEFAULT_ACCOUNT, with_token_volume
from reflet.resolution.templates.templates import parse_target, pod_resource
from reflet.resolution.volumes.trust_bundles import UNKNOWN_BUNDLES

if TYPE_CHECKING:
    from reflet.insight.possible_users import PossibleUsers

FILES_NAMESPACE: Final = "default"
"""The namespace of objects in files that name none, when nobody else does."""

PodName: TypeAlias = tuple[str, str, str]
"""The kind, namespace and name of a pod, or of what makes it."""
OnFile = Callable[[int], None]
"""Is told how many more texts were read."""
Fingerprint = frozenset[tuple[str, int, int, int]]


def pod_inputs_from_files(
    paths: Sources | Sequence[str],
    target: str = "",
    *,
    namespace: str = "",
    refused: bool = False,
    admission: bool = False,
    on_file: OnFile | None = None,
) -> PodInputs:
    """Get a pod, or the pod that a workload makes, and everything its containers get, from files.

    *paths* are files, folders and ``-`` for standard input, or ``Sources`` that say more.  *target*
    is that of ``pod_inputs``; without one, the files must hold exactly one pod.  *namespace* is
    that of objects which name none, and leaves out pods of others.  ::

        inputs = reflet.pod_inputs_from_files(["deploy/"], "deploy/web")
        inputs.environment("web").values

    Raises ConfigurationError and DecodeError for mistakes in files or names, and Invalid for a pod
    that an API server would refuse.  With *refused*, such a pod is returned as it was written, if
    it can be read at all, and the server's words are among the ``refusals``: enough to see what it
    names.  *admission* is that of ``Needs``.  *on_file* is called for every text
    that is read.
    """
    applied = _applied(paths, namespace, on_file)
    wanted = parse_target(target) if target else None
    chosen = choose_pod(applied, wanted, namespace or None, refused=refused)
    inputs = _inputs_of(chosen, applied)
    return dataclasses.replace(inputs, pod=_admitted(inputs.pod, applied)) if admission else inputs


def _admitted(pod: Pod, applied: AppliedManifests) -> Pod:
    """Return a pod as admission would leave it; an account that is not in the files may decline."""
    wanted = (pod.metadata.namespace, pod.spec.service_account_name or DEFAULT_ACCOUNT)
    for account in applied.service_accounts():
        if (account.metadata.namespace, account.metadata.name) == wanted:
            return with_token_volume(pod, account)
    return with_token_volume(pod)


def _applied(
    paths: Sources | Sequence[str], namespace: str, on_file: OnFile | None
) -> AppliedManifests:
    def told(_: SourceText) -> None:
        if on_file is not None:
            on_file(1)

    return read_applied(paths, namespace=namespace or FILES_NAMESPACE, on_text=told)


def inputs_of_every_pod(
    applied: AppliedManifests, *, namespace: str = "", refused: bool = False
) -> list[PodInputs]:
    """Return every pod of files that were read, of one namespace if one is given.

    *refused* is that of ``pod_inputs_from_files``.  Raises ConfigurationError when there is none.

    - *applied*: the objects of the files
    - *namespace*: only pods of this namespace; empty is all of them
    """
    found = [
        _inputs_of(each, applied)
        for each in pod_targets(applied, refused=refused)
        if not namespace or each.namespace == namespace
    ]
    if not found:
        raise no_pods(applied)
    return found


def named_pods(
    paths: Sources | Sequence[str],
    target: str = "",
    *,
    namespace: str = "",
    on_file: OnFile | None = None,
) -> dict[PodName, PodInputs]:
    """Return every pod of files by its name, or those that *target* names; there may be none."""
    applied = _applied(paths, namespace, on_file)
    typed, name = parse_target(target) if target else ("", "")
    return {
        (each.kind, each.namespace, each.name): _inputs_of(each, applied)
        for each in pod_targets(applied)
        if (not namespace or each.namespace == namespace)
        and (not target or (each.name == name and is_called(typed, _resource_of(each))))
    }


def _resource_of(target: PodTarget) -> Resource:
    return target.resource or pod_resource(target.kind)


def _inputs_of(chosen: PodTarget, applied: AppliedManifests) -> PodInputs:
    node, remarks = _node_of(chosen.pod, applied)
    return PodInputs(
        pod=chosen.pod,
        kind=chosen.kind,
        name=chosen.name,
        objects=applied.object_source(chosen.place),
        services=applied.services(),
        node=node,
        token=unknown_token,
        bundles=applied.trust_bundles() or UNKNOWN_BUNDLES,
        place=chosen.place,
        resource=chosen.resource,
        other_templates=chosen.other_templates,
        replicas=chosen.replicas,
        remarks=(
            *applied.left_out,
            *map(str, (*applied.repeated_keys, *applied.remarks)),
            *chosen.assumptions,
            *remarks,
        ),
        refusals=tuple(
            RefusedObject(each.place, each.kind, each.namespace, each.name, each.message)
            for each in applied.refusals
        ),
        known_objects=tuple(_keys_of(applied)),
    )


def _keys_of(applied: AppliedManifests) -> Iterator[ObjectKey]:
    for config_map in applied.config_maps():
        yield "ConfigMap", config_map.metadata.namespace, config_map.metadata.name
    for secret in applied.secrets():
        yield "Secret", secret.metadata.namespace, secret.metadata.name


def _node_of(pod: Pod, applied: AppliedManifests) -> tuple[NodeInHand, tuple[str, ...]]:
    nodes = applied.nodes()
    name = pod.spec.node_name
    if name:
        return next((node for node in nodes if node.metadata.name == name), UNKNOWN_NODE), ()
    if len(nodes) == 1:
        said = (
            f"the pod has no node; its limits are shown as if it were on {nodes[0].metadata.name}"
        )
        return nodes[0], (said,)
    return UNKNOWN_NODE, ()


def possible_users_from_files(
    paths: Sources | Sequence[str], *, namespace: str = "", on_file: OnFile | None = None
) -> PossibleUsers:
    """Take the objects of files as if they were applied.

    - *paths*: files, folders, or ``-`` for standard input
    - *namespace*: where objects are that name none
    - *on_file*: called for each file that is read; None if nobody cares
    """
    # Only those who ask for users need the table of references.
    from reflet.insight.possible_users import (  # noqa: PLC0415 - see above
        Candidates,
        PossibleUsers,
        keys_by_object,
        labels_by_object,
    )
    from reflet.insight.reference_table import may_name  # noqa: PLC0415 - see above

    applied = _applied(paths, namespace, on_file)
    there: list[ConfigMap | Secret] = [*applied.config_maps(), *applied.secrets()]
    return PossibleUsers(
        candidates=Candidates(
            pods=applied.pods(),
            workloads=applied.workloads(),
            objects=(
                *map(_whole, applied.service_accounts()),
                *(item for item in applied.untyped() if may_name(item.api_version, item.kind)),
            ),
            labels=labels_by_object(there),
            at_hand=ObjectsInHand(there),
        ),
        namespace=namespace or FILES_NAMESPACE,
        keys_there=keys_by_object(there),
        # Services do not use ConfigMaps, so remarks about them are of no interest here.
        notes=tuple(f"{refusal}; so it is left out" for refusal in applied.refusals),
        unread=len({each.place for each in applied.remarks} - {o.place for o in applied.objects}),
    )


def _whole(item: ServiceAccount) -> AnyObject:
    return AnyObject(codec.encode(item))


def fingerprint(sources: Sources | Sequence[str]) -> Fingerprint:
    """What tells files that were edited from those that were not.

    What cannot be read just now is no failure: it is another fingerprint, and reading will say.
    """
    return frozenset(mark for path in _watched(Sources.of(sources)) for mark in _marks(path))


def _watched(sources: Sources) -> Iterator[str]:
    """Yield the files and folders that what is read comes from."""
    yield from sources.paths
    for chart in sources.charts:
        yield from (chart.chart, *chart.values)
    # A kustomization builds on others, which need not be below it.
    waiting, seen = list(sources.kustomizations), set[str]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        file = kustomization_of(path)
        if file:
            with suppress(ConfigurationError):  # an editor replaces it just now
                found = read_kustomization(read_text(FoundFile(file)))
                waiting += [*found.inputs, *found.patches]


def _marks(path: str) -> Iterator[tuple[str, int, int, int]]:
    with suppress(ConfigurationError):  # a folder in it goes just now
        for file in walk(path) if Path(path).is_dir() else [path]:
            try:
                found = os.stat(file)  # noqa: PTH116 - the result is what counts
            except OSError:
                continue  # an editor replaces it just now
            yield (file, found.st_mtime_ns, found.st_size, found.st_ino)
