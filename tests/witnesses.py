"""Who watches a mirror in tests, and what everybody must agree on in the end.

Owns: handlers with a view of their own, a thread that never stops reading, and the comparison
of all of them with the server.  Must not know which server it is, nor what goes wrong with it.
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.informer.handlers.changes import Change
from reflet.store.store import Store

T = TypeVar("T", bound=KubernetesObject)

COLOURS: Final = "colours"
"""A label whose value is colours with dashes between them, and the index of each colour."""

READING_PAUSE: Final = 0.002  # seconds; without one, a reader starves those whom it watches


@dataclass(frozen=True, slots=True)
class State:
    """What a test compares of an object, whatever it is made of."""

    version: str
    uid: str
    labels: Mapping[str, str]
    content: object

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> State:
        """The state of an object as the server keeps it."""
        metadata = document["metadata"]
        content = document.get("data") or document.get("spec") or {}
        labels = metadata.get("labels", {})
        return cls(metadata["resourceVersion"], metadata.get("uid", ""), labels, content)

    @classmethod
    def of(cls, item: KubernetesObject) -> State:
        """The state of an object as the mirror has it."""
        metadata = item.metadata
        match item:
            case ConfigMap(data=data):
                content: object = dict(data)
            case Secret(data=secrets):
                content = {key: b64encode(value).decode() for key, value in secrets.items()}
            case AnyObject():
                content = item.to_dict().get("spec") or {}
            case _:
                content = None
        labels = dict(metadata.labels)
        return cls(metadata.resource_version, metadata.uid, labels, content)


def colours_of(item: KubernetesObject) -> list[str]:
    """The values of the index ``COLOURS``: any number of them."""
    return _colours(item.metadata.labels)


def first_letter_of(item: KubernetesObject) -> list[str]:
    """The value of the index ``letter``."""
    return [item.metadata.name[:1]]


def indexers() -> dict[str, Callable[[Any], Iterable[str]]]:
    """The indexes of every mirror that is watched here."""
    return {COLOURS: colours_of, "letter": first_letter_of}


class Witness(Generic[T]):
    """A handler that believes only what it is told, and notes what does not fit together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.view: dict[str, T] = {}
        self.told: list[Change[T]] = []
        self.troubles: list[str] = []
        self._newest: defaultdict[str, int] = defaultdict(int)

    def __call__(self, change: Change[T]) -> None:
        self.told.append(change)
        key, known = change.key, self.view.get(change.key)
        version, newest = _version(change.object), self._newest[change.key]
        # A deletion that was missed is told with the last state that was known.
        repeated = change.is_resync or change.stale
        if version < newest or (version == newest and not repeated):
            self.troubles.append(f"{change.type} {key} at {version} after {newest}")
        if (change.type == "ADDED") is not (known is None):
            what = "unknown" if known is None else "known"
            self.troubles.append(f"{change.type} {key} at {version}, which was {what}")
        elif known is not None and (change.old is None or _version(change.old) != _version(known)):
            self.troubles.append(f"{change.type} {key} at {version} from another state than known")
        self._newest[key] = max(version, newest)
        if change.type == "DELETED":
            self.view.pop(key, None)
        else:
            self.view[key] = change.object

    def told_of(self, key: str) -> list[str]:
        """The types of the changes of one key, in order."""
        return [change.type for change in self.told if change.key == key]


@dataclass
class Reader(Generic[T]):
    """A thread that reads a store all the time, and notes what no reader may ever see.

    Where a list is taken object by object, the store's own version means nothing meanwhile:
    ``in_batches=False`` leaves it out.
    """

    store: Store[T]
    in_batches: bool = True
    looks: int = 0
    troubles: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._newest: defaultdict[str, int] = defaultdict(int)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="reader of a mirror")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _read(self) -> None:
        while True:  # once at least, however short the story is
            self._look()
            self.looks += 1
            if self._over.wait(READING_PAUSE):
                return

    def _look(self) -> None:
        if self.in_batches:
            self._note("the store", int(self.store.version or 0))
        for key in {*self._newest, *self.store.keys()} - {"the store"}:
            item = self.store.get(key)
            if item is not None:
                self._note(key, _version(item))
        for colour in self.store.index_values(COLOURS):
            for item in self.store.by_index(COLOURS, colour):
                if colour not in colours_of(item):
                    self.troubles.append(f"{item.metadata.name} is not {colour}")

    def _note(self, what: str, version: int) -> None:
        if version < self._newest[what]:
            self.troubles.append(f"{what} at {version} after {self._newest[what]}")
        self._newest[what] = version


def differences(
    store: Store[T], witnesses: Iterable[Witness[T]], server: Mapping[str, State]
) -> list[str]:
    """Where the store, one of its indexes or somebody's view is not what the server has."""
    held, _ = store.snapshot()
    found = _compared("store", held, server)
    for witness in witnesses:
        found += _compared(witness.name, witness.view, server)
    for name, indexed in _indexed(server).items():
        values = {value: store.index_keys(name, value) for value in store.index_values(name)}
        if values != indexed:
            found.append(f"index {name}: {values} is not {indexed}")
    return found


def is_behind(
    store: Store[T], witnesses: Iterable[Witness[T]], server: Mapping[str, State]
) -> bool:
    """Whether somebody has other versions than the server: a quick look, not a comparison."""
    versions = {key: state.version for key, state in server.items()}
    views: list[Mapping[str, T]] = [store.snapshot()[0], *(each.view for each in witnesses)]
    return any(
        {key: item.metadata.resource_version for key, item in view.items()} != versions
        for view in views
    )


def troubles(reader: Reader[T], witnesses: Iterable[Witness[T]]) -> list[str]:
    """What the reader and the handlers saw that must not be."""
    noted = [f"{each.name}: {trouble}" for each in witnesses for trouble in each.troubles]
    return noted + [f"reader: {trouble}" for trouble in reader.troubles]


def _compared(name: str, view: Mapping[str, T], server: Mapping[str, State]) -> list[str]:
    have = {key: State.of(item) for key, item in view.items()}
    return [
        f"{name}: {key} is {have.get(key)}, on the server {server.get(key)}"
        for key in sorted(have.keys() | server.keys())
        if have.get(key) != server.get(key)
    ]


def _indexed(server: Mapping[str, State]) -> dict[str, dict[str, list[str]]]:
    indexes: dict[str, dict[str, list[str]]] = {COLOURS: {}, "letter": {}, "namespace": {}}
    for key in sorted(server):
        namespace, _, name = key.rpartition("/")
        for colour in _colours(server[key].labels):
            indexes[COLOURS].setdefault(colour, []).append(key)
        indexes["letter"].setdefault(name[:1], []).append(key)
        indexes["namespace"].setdefault(namespace, []).append(key)
    return indexes


def _colours(labels: Mapping[str, str]) -> list[str]:
    return [colour for colour in labels.get(COLOURS, "").split("-") if colour]


def _version(item: KubernetesObject) -> int:
    return int(item.metadata.resource_version)
