"""ConfigMaps and Secrets by themselves, beside the pods of the files, and against a cluster's.

Values are compared and never told.
"""

from collections.abc import Iterator
from typing import Final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import EnvVar
from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.unstructured import AnyObject
from reflet.insight.fixes import listed
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.insight.reference_table import references_in
from reflet.resolution.objects import ObjectKey, value_bytes
from reflet.resolution.places import containers_of
from reflet.resolution.references import references_of

SHORTEST_SECRET: Final = 8  # bytes; shorter values are equal by chance
NEW_NAME: Final = "give the changed object a new name, and use that"


def changed_immutables(
    subject: Subject, item: ConfigMap | Secret, live: ConfigMap | Secret | None
) -> Iterator[Finding]:
    """Yield what the API server would refuse to change of the object that it has."""
    if isinstance(item, Secret) and isinstance(live, Secret):
        wanted, there = item.type or "Opaque", live.type or "Opaque"
        if wanted != there:
            yield subject.finding(
                rules.CHANGED_IMMUTABLE,
                f"{subject} is of type {there} in the cluster and {wanted} here; "
                "the type cannot be changed",
                path="type",
                fix="delete it first, or give it a new name",
            )
    if live is None or not live.immutable:
        return
    ours, theirs = value_bytes(item), value_bytes(live)
    changed = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    if changed:
        yield subject.finding(
            rules.CHANGED_IMMUTABLE,
            f"{subject} is immutable in the cluster and differs in {listed(changed)}",
            path="data",
            fix=NEW_NAME,
        )
    elif not item.immutable:
        yield subject.finding(
            rules.CHANGED_IMMUTABLE,
            f"{subject} is immutable in the cluster and cannot be made mutable again",
            path="immutable",
            fix=NEW_NAME,
        )


def unused_objects(subjects: Subjects) -> Iterator[Finding]:
    """Yield ConfigMaps and Secrets that nothing in the files uses."""
    used = {
        (reference.kind, pod.metadata.namespace, reference.name)
        for _, pod in subjects.pods()
        for reference in references_of(pod)
    }
    used.update(_used_otherwise(subjects))
    for subject, item in subjects.configurations():
        if (item.kind, item.metadata.namespace, item.metadata.name) not in used:
            yield subject.finding(
                rules.UNUSED, f"nothing in the files uses {subject}", fix="remove it"
            )


def _used_otherwise(subjects: Subjects) -> Iterator[ObjectKey]:
    """Yield what service accounts pull with, and what the table of references knows."""
    for subject in subjects.every:
        found = subject.object
        if isinstance(found, ServiceAccount):
            for secret in found.image_pull_secrets:
                yield "Secret", subject.namespace, secret.name
        elif isinstance(found, AnyObject):
            for named in references_in(found.content):
                yield named.kind, named.namespace or subject.namespace, named.name


def plain_secrets(subjects: Subjects) -> Iterator[Finding]:
    """Yield values of Secrets that stand in plain text in pods and ConfigMaps of the files."""
    secrets: dict[bytes, str] = {}
    for _, item in subjects.configurations():
        if isinstance(item, Secret):
            for key, value in item.data.items():
                if len(value) >= SHORTEST_SECRET:
                    metadata = item.metadata
                    secrets[value] = f"key {key} of Secret {metadata.namespace}/{metadata.name}"
    if not secrets:
        return
    for subject, pod in subjects.pods():
        for path, variable in _literals(pod):
            known = secrets.get(variable.value.encode(errors="surrogatepass"))
            if known:
                yield subject.finding(
                    rules.PLAIN_SECRET,
                    f"the value of variable {variable.name} is that of {known}",
                    path=subject.path_of(path),
                    fix="use valueFrom.secretKeyRef",
                )
    for subject, item in subjects.configurations():
        if not isinstance(item, ConfigMap):
            continue
        for key, value in value_bytes(item).items():
            known = secrets.get(value)
            if known:
                yield subject.finding(
                    rules.PLAIN_SECRET,
                    f"the value of {key} is that of {known}",
                    path=f'data["{key}"]',
                    fix="use the Secret",
                )


def _literals(pod: Pod) -> Iterator[tuple[str, EnvVar]]:
    for placed in containers_of(pod.spec):
        for index, variable in enumerate(placed.container.env):
            if variable.value:
                yield f"{placed.path}.env[{index}].value", variable
