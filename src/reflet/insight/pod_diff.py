"""What changes for the processes of a pod: environment and files, container by container.

What counts is what a process gets: values, bytes and modes, at the names and paths where it finds
them.  Where a value came from does not count, nor what a server would complain about on both sides
alike.  Values are in the result as resolution gives them, secret ones included: who shows them asks
``sensitive``.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import structs

from reflet.api.frozen import Frozen
from reflet.api.meta import Hidden
from reflet.insight.explain import ExplainedPod, Follows, explain
from reflet.resolution.environment.variables import exact_bytes
from reflet.resolution.origins import Origin, ServiceOrigin
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.service_account_volume import PREFIX


class Item(Frozen, frozen=True, kw_only=True):
    """A variable or a file as a process finds it; what is not ``known`` is empty here."""

    data: bytes
    origin: Origin
    sensitive: bool = False
    known: bool = True
    mode: int | None = None
    follows: Follows = Follows.RESTART

    def _presentable(self) -> "Item":
        hidden: Any = Hidden("secret" if self.sensitive else "value", len(self.data))
        return structs.replace(self, data=hidden)

    def __repr__(self) -> str:
        return Frozen.__repr__(self._presentable())

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return Frozen.__rich_repr__(self._presentable())

    def is_same(self, other: "Item") -> bool:
        """Whether a process could not tell them apart."""
        return (self.data, self.mode, self.known) == (other.data, other.mode, other.known)


class ItemChange(Frozen, frozen=True, kw_only=True):
    """A variable, or a file by its path, before and after; ``None`` where it is not there."""

    name: str
    before: Item | None = None
    after: Item | None = None

    @property
    def sensitive(self) -> bool:
        """Whether one of the two must not be shown."""
        return any(each is not None and each.sensitive for each in (self.before, self.after))

    @property
    def needs_restart(self) -> bool:
        """Whether a container that runs does not see it by itself."""
        items = [each for each in (self.before, self.after) if each is not None]
        return any(each.follows is not Follows.LIVE for each in items)


class ContainerDiff(Frozen, frozen=True, kw_only=True):
    """What changes for one container, and how much stays.

    ``error_before`` and ``error_after`` are why the kubelet would not start it.  A container
    that is on one side only is all change: ``is_new``, or ``is_gone``.
    """

    container: str
    variables: tuple[ItemChange, ...] = ()
    files: tuple[ItemChange, ...] = ()
    equal_variables: int = 0
    equal_files: int = 0
    error_before: str = ""
    error_after: str = ""
    is_new: bool = False
    is_gone: bool = False

    def __bool__(self) -> bool:
        errors = self.error_before != self.error_after
        return bool(self.variables or self.files or errors or self.is_new or self.is_gone)


class PodDiff(Frozen, frozen=True, kw_only=True):
    """What changes for the containers of a pod; false when nothing does.

    ``is_rolled``: the template of the pods differs too, so that they are replaced anyway.
    ``replicas`` is how many there are, ``None`` if that is not known.
    """

    title: str
    namespace: str = ""
    containers: tuple[ContainerDiff, ...] = ()
    is_new: bool = False
    is_gone: bool = False
    is_rolled: bool = False
    replicas: int | None = None

    def __bool__(self) -> bool:
        return self.is_new or self.is_gone or any(self.containers)

    @property
    def changes(self) -> Iterator[ItemChange]:
        """Every variable and file that changes."""
        for each in self.containers:
            yield from (*each.variables, *each.files)

    @property
    def needs_restart(self) -> bool:
        """Whether pods that run keep what they have until somebody restarts them."""
        stays = not (self.is_new or self.is_gone or self.is_rolled)
        return stays and any(each.needs_restart for each in self.changes)


def pod_diff(
    before: PodInputs | None, after: PodInputs | None, *, services: bool = False
) -> PodDiff:
    """Compare two pods, or the pods that two workloads make; ``None`` for one that is not there.

    Variables that announce services are left out unless *services* asks for them: their addresses
    differ from cluster to cluster.
    """
    known = after or before
    if known is None:
        raise ValueError("there is nothing to compare")
    old, new = (None if each is None else _Contents(each, services) for each in (before, after))
    names = dict.fromkeys((*(old.names if old else ()), *(new.names if new else ())))
    return PodDiff(
        title=known.target,
        namespace=known.namespace,
        containers=tuple(_container(name, old, new) for name in names),
        is_new=before is None,
        is_gone=after is None,
        is_rolled=_is_rolled(before, after),
        replicas=before.replicas if before is not None else known.replicas,
    )


def _is_rolled(before: PodInputs | None, after: PodInputs | None) -> bool:
    if before is None or after is None or "Pod" in {before.kind, after.kind}:
        return False
    return before.pod.spec != after.pod.spec


class _Contents:
    """What each container of a pod gets."""

    def __init__(self, inputs: PodInputs, services: bool) -> None:
        self._explained = explain(inputs)
        self.names = [each.environment.container for each in self._explained.containers]
        self.errors = _errors(self._explained)
        self._variables = {
            each.environment.container: {
                name: Item(
                    data=exact_bytes(variable.value),
                    origin=variable.origin,
                    sensitive=variable.sensitive,
                    known=variable.assignment.known,
                )
                for name, variable in each.environment.variables.items()
                if services or not isinstance(variable.origin, ServiceOrigin)
            }
            for each in self._explained.containers
        }
        self._files = _files(self._explained)

    def variables(self, container: str) -> Mapping[str, Item]:
        return self._variables.get(container, {})

    def files(self, container: str) -> Mapping[str, Item]:
        return self._files.get(container, {})


def _files(explained: ExplainedPod) -> dict[str, dict[str, Item]]:
    found: dict[str, dict[str, Item]] = {}
    for volume in explained.volumes:
        if volume.contents.volume.startswith(PREFIX):
            continue  # a pod has it and a template does not, and nobody chose what is in it
        for each in volume.files:
            file = each.file
            for sight in each.sights:
                found.setdefault(sight.container, {})[sight.path] = Item(
                    data=file.data,
                    origin=file.origin,
                    sensitive=file.sensitive,
                    known=file.known,
                    mode=file.mode,
                    follows=sight.follows,
                )
    return found


def _errors(explained: ExplainedPod) -> dict[str, str]:
    """Why the kubelet would not start a container: its environment, or a volume that it mounts."""
    volumes = [each.contents.error for each in explained.volumes if each.contents.error]
    return {
        each.environment.container: each.environment.error or (volumes[0] if volumes else "")
        for each in explained.containers
    }


def _container(name: str, old: _Contents | None, new: _Contents | None) -> ContainerDiff:
    is_new = old is None or name not in old.names
    is_gone = new is None or name not in new.names
    variables = _changes(name, old, new, _Contents.variables)
    files = _changes(name, old, new, _Contents.files)
    return ContainerDiff(
        container=name,
        variables=variables[0],
        files=files[0],
        equal_variables=variables[1],
        equal_files=files[1],
        error_before="" if old is None else old.errors.get(name, ""),
        error_after="" if new is None else new.errors.get(name, ""),
        is_new=is_new,
        is_gone=is_gone,
    )


def _changes(
    container: str,
    old: _Contents | None,
    new: _Contents | None,
    part: Callable[[_Contents, str], Mapping[str, Item]],
) -> tuple[tuple[ItemChange, ...], int]:
    """Return what changes, by name, and how many stay as they are."""
    before = {} if old is None else part(old, container)
    after = {} if new is None else part(new, container)
    changes = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if one is None or other is None or not one.is_same(other):
            changes.append(ItemChange(name=name, before=one, after=other))
    return tuple(changes), len(before.keys() | after.keys()) - len(changes)
