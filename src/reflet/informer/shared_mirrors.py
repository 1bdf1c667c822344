"""One mirror for everybody who asks the same question: client-go's SharedInformerFactory, by use.

Parts of a program that do not know of each other mirror the same Secrets, and the server should
serve one watch and the process keep one copy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, Self, TypeVar, cast
from weakref import WeakValueDictionary

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.informer.mirror import Mirror
from reflet.runtime.tasks import Failure

T = TypeVar("T", bound=KubernetesObject)

_SELECTORS: Final[Mapping[str, Callable[[str], Hashable]]] = {
    "label_selector": LabelSelector.parse,
    "field_selector": FieldSelector.parse,
}


class SharedMirror(Mirror[T]):
    """A mirror that several are in at once: the first who enters starts it, the last stops it."""

    users = 0

    async def __aenter__(self) -> Self:
        # Starting does not wait, so nobody comes in between; whom it refuses is not in.
        if not self.users:
            await super().__aenter__()
        self.users += 1
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self.users -= 1
        if not self.users:
            await super().__aexit__(*failure)


class SharedMirrors:
    """The mirrors that are shared, by question."""

    def __init__(self) -> None:
        self._mirrors: WeakValueDictionary[Hashable, SharedMirror[Any]] = WeakValueDictionary()

    def mirror(
        self,
        question: Hashable,
        options: Mapping[str, Any],
        make: Callable[[], SharedMirror[T]],
    ) -> SharedMirror[T]:
        """The mirror for *question* with *options*, made unless there is one that is not over.

        Options are the same when they are equal; selectors when they mean the same.
        """
        asked = (question, frozenset((name, _meaning(name, options[name])) for name in options))
        known = self._mirrors.get(asked)
        # One that all have left is over, also while it is still being stopped.
        if known is None or (known.informer.is_started and not known.users):
            known = self._mirrors[asked] = make()
        return cast("SharedMirror[T]", known)


def _meaning(name: str, value: Any) -> Hashable:
    if name in _SELECTORS:
        return str(_SELECTORS[name](value) if isinstance(value, str) else value)
    if isinstance(value, Mapping):  # of indexers
        return frozenset(value.items())
    return cast("Hashable", value)
