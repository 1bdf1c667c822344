"""What is new between two results, by name and never by value.

Owns: when two results are the same, and the words for how they differ.  Only computes.  Must not
know what is done about it.

What counts is what containers get: values, bytes, modes, owners and errors.  Where a value came
from, and in which version of an object it was found, does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from reflet.api.frozen import EMPTY
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.variables import Environment

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """Names that came, went, or have another value now; each sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        parts = (
            *(f"+{name}" for name in self.added),
            *(f"-{name}" for name in self.removed),
            *(f"~{name}" for name in self.changed),
        )
        return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How two results differ; false when they do not.

    ``variables`` are by container, ``files`` by volume; only those with changes are there.
    ``errors`` are new texts of the kubelet by ``container NAME`` or ``volume NAME``, empty for
    an error that is over.  A container or volume that has an error has no changes besides: what
    could be told of it is not what anybody gets.
    """

    variables: Mapping[str, NameChanges] = field(default_factory=lambda: EMPTY)
    files: Mapping[str, NameChanges] = field(default_factory=lambda: EMPTY)
    errors: Mapping[str, str] = field(default_factory=lambda: EMPTY)

    def __bool__(self) -> bool:
        return bool(self.variables or self.files or self.errors)

    def lines(self) -> Iterator[str]:
        """One line for each container and volume: ``+`` came, ``-`` went, ``~`` changed."""
        for name, changes in self.variables.items():
            yield f"container {name}: {changes}"
        for name, changes in self.files.items():
            yield f"volume {name}: {changes}"
        for name, error in self.errors.items():
            yield f"{name}: {error}" if error else f"{name}: can be resolved again"


def difference(before: ResolvedPod | None, after: ResolvedPod) -> Difference:
    """Tell what is new in *after*; everything is when there was nothing before."""
    variables: dict[str, NameChanges] = {}
    files: dict[str, NameChanges] = {}
    errors: dict[str, str] = {}
    environments = {} if before is None else before.environments
    for name in _names(environments, after.environments):
        old, new = environments.get(name), after.environments.get(name)
        _compare_errors(f"container {name}", old, new, errors)
        if new is None or new.error is None:
            changes = _changes(_values(old), _values(new))
            if changes:
                variables[name] = changes
    volumes = {} if before is None else before.volumes
    for name in _names(volumes, after.volumes):
        contents, newer = volumes.get(name), after.volumes.get(name)
        _compare_errors(f"volume {name}", contents, newer, errors)
        if newer is None or newer.error is None:
            changes = _changes(_files(contents), _files(newer))
            if changes:
                files[name] = changes
    return Difference(
        variables=MappingProxyType(variables),
        files=MappingProxyType(files),
        errors=MappingProxyType(errors),
    )


def _names(before: Mapping[str, V], after: Mapping[str, V]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*after, *before)))


def _compare_errors(
    name: str,
    before: Environment | VolumeContents | None,
    after: Environment | VolumeContents | None,
    errors: dict[str, str],
) -> None:
    old = None if before is None else before.error
    new = None if after is None else after.error
    if old != new:
        errors[name] = new or ""


def _values(environment: Environment | None) -> Mapping[str, object]:
    if environment is None:
        return {}
    return {
        name: (variable.value, variable.assignment.known)
        for name, variable in environment.variables.items()
    }


def _files(contents: VolumeContents | None) -> Mapping[str, object]:
    if contents is None:
        return {}
    return {
        path: (file.data, file.mode, file.user, contents.fs_group, file.known)
        for path, file in contents.files.items()
    }


def _changes(before: Mapping[str, object], after: Mapping[str, object]) -> NameChanges:
    return NameChanges(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(
            sorted(name for name in after.keys() & before.keys() if after[name] != before[name])
        ),
    )
