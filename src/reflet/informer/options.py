"""The options of mirrors, informers and reflectors: what each is called, and what it does.

Every layer takes these by keyword, so that an editor completes them, mypy refuses a name that
none of them has, and so does the call itself: ``refuse_unknown`` where they are kept for later,
the signature of ``Reflector`` where they are used at once.

- ``MirrorOptions``: ``Cluster.mirror``, ``BlockingCluster.mirror`` and ``Mirror`` take all of them
- ``InformerOptions``: what an ``InformerSet`` gives all its informers
- ``ReflectorOptions``: what ``SharedInformer`` passes on to its ``Reflector``

A test compares them with the signatures, which also have the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Generic, Literal, TypeAlias, TypedDict, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.store.indexes import IndexFunction
from reflet.store.transforms import Transform

T = TypeVar("T", bound=KubernetesObject)

QueueKind: TypeAlias = Literal["ordered", "delta-fifo"]
"""The order in which deltas reach a store: see ``reflet.informer.process_deltas``."""


class ReflectorOptions(TypedDict, total=False):
    """How a reflector lists and watches."""

    description: str | None
    """The word for the objects in errors."""
    expected_kind: tuple[str, str] | None
    """``(apiVersion, kind)``: events with other objects are skipped."""
    backoff: Backoff | None
    """The series of delays after refusals; client-go's unless given."""
    chance: Callable[[], float]
    """Where randomness comes from: numbers from 0 up to 1."""
    minimum_watch_timeout: float
    """Seconds that a watch asks for, up to twice as many; at least 300."""
    silence: float | None
    """Seconds that an open watch may bring nothing before it is opened again; None for ever."""
    page_size: int
    """Objects in one page of a list; 0 lets the rules of versions decide."""
    internal_error_window: float
    """Seconds for which a server's internal errors do not lead to a new list."""
    streaming: bool
    """Whether to ask for WatchLists."""
    expected_errors: tuple[type[Exception], ...]
    """Refusals that the caller has an answer to: logged for debugging only."""
    since: str
    """A ``resourceVersion`` that is known: the first state is asked to be at least that new."""
    awaited: Callable[[], bool]
    """Whether somebody waits for the objects right now: such a reflector goes first."""


class InformerOptions(ReflectorOptions, Generic[T], total=False):
    """What an informer does with what its reflector brings."""

    indexers: Mapping[str, IndexFunction[T]] | None
    """Index functions by the name of the index, for ``by_index``."""
    transform: Transform[T] | None
    """What is done to an object before it is stored."""
    queue: QueueKind
    """The order in which deltas reach the store."""
    resync_every: float
    """Seconds after which handlers are called with every object again; 0 is never."""
    backlog_limit: int
    """Changes that may wait for one handler before those of one key merge."""
    on_error: Callable[[Exception], None] | None
    """Called with every error that ends a pass; without it they are logged."""
    on_connection: Callable[[Exception | None], None] | None
    """Called with an error when the server is lost, and with None when it is back."""
    clock: Clock | None
    """Where time comes from."""
    metrics: Metrics
    """Where metrics go."""


class MirrorOptions(InformerOptions[T], Generic[T], total=False):
    """All that ``cluster.mirror`` takes beside kind and namespace."""

    name: str
    """What logs call it; the resource and the namespace unless given."""
    label_selector: LabelSelector | str
    """Only objects whose labels match."""
    field_selector: FieldSelector | str
    """Only objects whose fields match."""


def refuse_unknown(given: Iterable[str], options: type, *, of: str) -> None:
    """Raise a TypeError for a name that is none of *options*, and say which was probably meant."""
    known = options.__annotations__
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{of} has no option {name!r}{hint}")
