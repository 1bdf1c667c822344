"""Whether what is held in memory is what the server had at the same version.

Owns: the comparison and its result.  Must not know how either side was obtained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.store.keys import key_of

T = TypeVar("T", bound=KubernetesObject)
T_co = TypeVar("T_co", bound=KubernetesObject, covariant=True)


class Held(Protocol[T_co]):
    """What can be compared with the server: a store, for one."""

    def snapshot(self) -> tuple[Mapping[str, T_co], str]:
        """Everything by key, and the server's version that this shows."""
        ...


@dataclass(frozen=True, slots=True)
class Consistency:
    """What a comparison at *version* found; each part is sorted keys."""

    version: str
    missing: tuple[str, ...] = ()
    """The server had these, and they are not held."""
    surplus: tuple[str, ...] = ()
    """These are held, and the server did not have them."""
    different: tuple[str, ...] = ()
    """Both have these, not in the same state."""

    def __bool__(self) -> bool:
        return not (self.missing or self.surplus or self.different)


def compare(
    held: Mapping[str, T],
    listed: Iterable[T],
    version: str,
    transform: Callable[[T], T] | None = None,
) -> Consistency:
    """Compare what is held with what the server listed at the same version.

    *transform* is what was done to the objects that are held; those that it cannot digest are
    rightly not held.
    """
    theirs = {}
    for item in listed:
        try:
            theirs[key_of(item)] = item if transform is None else transform(item)
        except Exception:  # noqa: BLE001, S112 - code of others; logged when the object came
            continue
    return Consistency(
        version,
        missing=tuple(sorted(theirs.keys() - held.keys())),
        surplus=tuple(sorted(held.keys() - theirs.keys())),
        different=tuple(
            sorted(key for key in theirs.keys() & held.keys() if theirs[key] != held[key])
        ),
    )
