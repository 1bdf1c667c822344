"""What sidecars of the files pick up by label: files that meet, folders, and near misses.

An object that is labelled for no sidecar is no mistake: its sidecar is mostly somebody else's.
Where a kustomization changes an object or its sidecar, nothing is said.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.selectors.labels import Operator
from reflet.insight.fixes import listed
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.insight.sidecars import FOLDER_ANNOTATION, SidecarSelection, sidecars_of
from reflet.resolution.objects import ObjectSource


class PlacedSidecar(NamedTuple):
    """What a sidecar selects, and the object whose container it is."""

    subject: Subject
    selection: SidecarSelection

    def takes(self, subject: Subject, item: ConfigMap | Secret) -> bool:
        """Whether an object is, or may be, picked up."""
        metadata, namespaces = item.metadata, self.selection.namespaces
        namespace = metadata.namespace
        if namespaces is not None and (_moves(subject) or _moves(self.subject)):
            namespace = namespaces[0]  # whoever applies them chooses
        return self.selection.takes(item.kind, namespace, metadata.name, metadata.labels)


def sidecars_in(
    subjects: Subjects, objects_for: Callable[[Subject], ObjectSource]
) -> tuple[PlacedSidecar, ...]:
    """Return the sidecars of all pods; *objects_for* gives what their variables may come from."""
    return tuple(
        PlacedSidecar(subject, sidecar.selection)
        for subject, pod in subjects.pods()
        for sidecar in sidecars_of(pod, pod.metadata.namespace, objects_for(subject))
    )


def picked_up(subjects: Subjects, sidecars: tuple[PlacedSidecar, ...]) -> Iterator[Finding]:
    """Yield what is wrong with objects that sidecars pick up, or nearly do."""
    for sidecar in sidecars:
        yield from _files_that_meet(sidecar, subjects)
    for subject, item in subjects.configurations():
        takers = [sidecar for sidecar in sidecars if sidecar.takes(subject, item)]
        yield from _folders_outside(subject, item, takers)
        if not takers and not _moves(subject):
            yield from _near_misses(subject, item, sidecars)


def _moves(subject: Subject) -> bool:
    """Tell whether the object may get another namespace, or other labels, before it is applied."""
    return subject.is_changed or (bool(subject.folder) and not subject.has_namespace)


def _files_that_meet(sidecar: PlacedSidecar, subjects: Subjects) -> Iterator[Finding]:
    selection = sidecar.selection
    if selection.unknown or selection.unique_filenames:
        return
    owners: dict[tuple[str, str], tuple[Subject, ConfigMap | Secret, str]] = {}
    for subject, item in subjects.configurations():
        if subject.is_changed or not sidecar.takes(subject, item):
            continue
        # Objects in several folders may be for several clusters.
        folder = posixpath.dirname(subject.file) if subject.folder else ""
        for key in _keys(item):
            file = selection.file_of(item, key)
            first, other, other_key = owners.setdefault((folder, file), (subject, item, key))
            if (other_key, str(first)) == (key, str(subject)):
                continue  # itself, or a variant of it
            where = f"key {other_key}" if other is item else f"key {other_key} of {first}"
            yield subject.finding(
                rules.SIDECAR_CONFLICT,
                f"key {key} of {subject} and {where} both become {file} in the sidecar of "
                f"{sidecar.subject}: only one of them is there",
                path=f'{_field(item, key)}["{key}"]',
                fix='rename one of them, or give the sidecar UNIQUE_FILENAMES: "true"',
            )


def _keys(item: ConfigMap | Secret) -> Iterator[str]:
    yield from item.data
    if isinstance(item, ConfigMap):
        yield from item.binary_data


def _field(item: ConfigMap | Secret, key: str) -> str:
    return "binaryData" if isinstance(item, ConfigMap) and key in item.binary_data else "data"


def _folders_outside(
    subject: Subject, item: ConfigMap | Secret, takers: Iterable[PlacedSidecar]
) -> Iterator[Finding]:
    names = {each.selection.folder_annotation for each in takers} or {FOLDER_ANNOTATION}
    for name in sorted(names):
        folder = item.metadata.annotations.get(name, "")
        if posixpath.normpath(folder).split("/")[0] == "..":
            yield subject.finding(
                rules.SIDECAR_FOLDER,
                f"the folder {folder} in annotation {name} of {subject} leads out of the folder "
                "of the sidecar",
                path=f'metadata.annotations["{name}"]',
                fix="name a folder below that of the sidecar, or an absolute path",
            )


def _near_misses(
    subject: Subject, item: ConfigMap | Secret, sidecars: Iterable[PlacedSidecar]
) -> Iterator[Finding]:
    for sidecar in sidecars:
        selection = sidecar.selection
        if not selection.certain or selection.names or _moves(sidecar.subject):
            continue
        near = _near_miss(subject, item, sidecar)
        if near is not None:
            yield near
            return


def _near_miss(
    subject: Subject, item: ConfigMap | Secret, sidecar: PlacedSidecar
) -> Finding | None:
    selection, labels = sidecar.selection, item.metadata.labels
    whose = f"the sidecar of {sidecar.subject}"
    path, near = "metadata.labels", f"{subject} is labelled for {whose}, which looks "
    if not labels or not selection.selector.matches(labels):
        required = selection.selector.requirements
        if len(required) != 1 or required[0].operator is not Operator.EQUALS:
            return None
        key, (value,) = required[0].key, required[0].values
        if key not in labels or not selection.reaches(item.kind, item.metadata.namespace):
            return None
        message = f"{subject} has label {key}={labels[key]}, and {whose} selects {key}={value}"
        path, fix = f'metadata.labels["{key}"]', f'label it {key}: "{value}"'
    elif item.kind not in selection.kinds:
        message = f"{near}for {selection.kinds[0]}s only"
        fix = "give the sidecar RESOURCE: both"
    else:
        message = f"{near}in namespace {listed(selection.namespaces or ())} only"
        fix = f"give the sidecar NAMESPACE: ALL, or a list that has {item.metadata.namespace}"
    return subject.finding(
        rules.SIDECAR_MISS, f"{message}: it is not picked up", path=path, fix=fix
    )
