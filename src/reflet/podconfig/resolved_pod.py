"""Everything that a pod's containers get at one moment, and how two such results differ.

What counts as a difference is what containers get: values, bytes, modes, owners and errors.
Where a value came from, and in which version of an object it was found, does not.  Differences
are told by name and never by value.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY
from reflet.resolution.environment.variables import Environment
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import Problem
from reflet.resolution.volumes.file_contents import VolumeContents

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPod:
    """A pod's environments by container, and the contents of its configuration by volume.

    Containers and volumes are in the pod's order; what is not configuration, an ``emptyDir`` for
    one, is not among the volumes.  Secret values are in it and in no representation of it.

    - *pod*: the pod
    - *environments*: environment of each container, by name
    - *volumes*: contents of each configuration volume, by name
    """

    pod: Pod
    environments: Mapping[str, Environment]
    volumes: Mapping[str, VolumeContents]

    @classmethod
    def of(cls, inputs: PodInputs) -> ResolvedPod:
        """What follows from *inputs*.  Pure."""
        return cls(pod=inputs.pod, environments=inputs.environments(), volumes=inputs.volumes())

    @property
    def errors(self) -> tuple[str, ...]:
        """Why containers cannot start or volumes cannot be set up, each with its name."""
        return (
            *(
                f"container {name}: {environment.error}"
                for name, environment in self.environments.items()
                if environment.error is not None
            ),
            *(
                f"volume {name}: {contents.error}"
                for name, contents in self.volumes.items()
                if contents.error is not None
            ),
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong, whether it keeps the pod from starting or not."""
        found: list[Problem] = []
        for environment in self.environments.values():
            found += environment.problems
        for contents in self.volumes.values():
            found += contents.problems
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChanges:
    """Names that came, went, or have another value now; each sorted.

    - *added*, *removed*, *changed*: the names
    """

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
    """Return what is new in *after*; with no *before*, everything is.  Pure.

    - *before*: what the pod had; None for the first time
    """
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
