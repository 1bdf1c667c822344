"""What lint looks at: the objects of files, and what a cluster has of what they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.services import Service
from reflet.errors import ConfigurationError, NotFound, RefletError
from reflet.insight.lint.subjects import Subject
from reflet.manifests.applied import AppliedManifests, read_applied
from reflet.resolution.objects import ObjectKey


def lint_subjects_from_files(
    paths: Sequence[str], *, namespace: str
) -> tuple[list[Subject], list[str]]:
    """Return the objects of the files, and remarks on those that are left out.

    Raises ConfigurationError for files without objects.
    """
    applied = read_applied(paths, namespace=namespace)
    if not (applied.objects or applied.refusals or applied.remarks):
        # In a pipe, whoever was to write them has most likely failed.
        raise ConfigurationError("the files hold no objects: there is nothing to check")
    # That a Service has no address yet is nothing that lint looks at.
    services = {item.place for item in applied.objects if isinstance(item.object, Service)}
    remarks = [str(remark) for remark in applied.remarks if remark.place not in services]
    return subjects_of(applied), remarks


def subjects_of(applied: AppliedManifests) -> list[Subject]:
    """Return the objects of the files, accepted or refused, as lint wants them."""
    subjects = []
    for item in applied.objects:
        metadata = item.object.metadata
        file, line = _split(item.place)
        subjects.append(
            Subject(
                file=file,
                kind=item.object.kind,
                namespace=metadata.namespace,
                name=metadata.name or metadata.generate_name,
                line_of=item.line_of or _always(line),
                object=item.object,
            )
        )
    for refusal in applied.refusals:
        file, line = _split(refusal.place)
        subjects.append(
            Subject(
                file=file,
                kind=refusal.kind,
                namespace=refusal.namespace,
                name=refusal.name,
                line_of=refusal.line_of or _always(line),
                message=refusal.message,
                causes=refusal.causes,
            )
        )
    return subjects


def remarks_on_unread(live: Mapping[ObjectKey, ConfigMap | Secret | RefletError]) -> list[str]:
    """Say which objects of the cluster could not be read and are therefore not checked."""
    return [
        f"{kind} {namespace}/{name} could not be read, so it is not checked: {answer}"
        for (kind, namespace, name), answer in live.items()
        if isinstance(answer, RefletError) and not isinstance(answer, NotFound)
    ]


def _always(line: int) -> Callable[[str], int]:
    return lambda _: line


def _split(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)
