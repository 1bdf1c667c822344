"""Which running containers still hold an old value, variable by variable and file by file.

``used_keys`` finds what containers use, and ``held_values`` judges one key.  Containers that do not
run hold nothing, nor do pods that end.  No value is needed for it, and none is in the answer.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, assert_never, final

from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.frozen import Frozen
from reflet.errors import RefletError
from reflet.insight.stale.held_values import (
    Arrival,
    Certainty,
    HeldState,
    HeldValue,
    Start,
    judge,
    surely_current,
)
from reflet.insight.stale.object_history import ObjectHistory
from reflet.insight.stale.used_keys import (
    Absence,
    Histories,
    NamedUse,
    Spot,
    UsedKeys,
    template_text,
    used_keys,
)
from reflet.resolution.objects import ConfigKind, ObjectKey

_ENDED: Final = frozenset({"Succeeded", "Failed"})


class KeyUse(Frozen, frozen=True, kw_only=True):
    """One key that a running container uses: as what, and whether it is up to date.

    ``name`` is that of the variable, or the path of the file inside the container.  ``key`` is
    empty where all keys of an object that is gone, or that could not be read, are meant.
    """

    container: str
    arrival: Arrival
    name: str
    kind: ConfigKind
    object: str
    key: str
    judgement: HeldValue

    @property
    def state(self) -> HeldState:
        """How the value that the container holds compares with the one of the object."""
        return self.judgement.state

    @property
    def certainty(self) -> Certainty:
        """Whether a watch saw it."""
        return self.judgement.certainty

    @property
    def verdict(self) -> str:
        """The answer in words that claim no more than is known: ``may be stale``."""
        match self.state:
            case HeldState.CURRENT:
                return "is current"
            case HeldState.ON_ITS_WAY:
                return "follows by itself"
            case HeldState.NEEDS_RESTART:
                return "is stale" if self.certainty is Certainty.OBSERVED else "may be stale"
            case HeldState.MISSING:
                return "source is gone"
            case HeldState.UNKNOWN:
                return "is not known"
            case _:
                assert_never(self.state)


def staleness_of(pod: Pod, histories: Histories, *, now: datetime) -> tuple[KeyUse, ...]:
    """Say of every key that the running containers of a pod use whether they have its value."""
    return tuple(Staleness(histories, now=now).of(pod))


@final
class Staleness:
    """Judges pod after pod; what the pods of one template use is found out once.

    Without *current*, uses that are current are left out, which is most of the work.
    """

    def __init__(self, histories: Histories, *, now: datetime, current: bool = True) -> None:
        self._histories = histories
        self._now = now
        self._current = current
        self._found: dict[str, UsedKeys] = {}
        self._newest: dict[ObjectKey, datetime | None] = {}

    def of(self, pod: Pod) -> Iterator[KeyUse]:
        """Yield every key that the running containers of a pod use."""
        if pod.status.phase in _ENDED or pod.metadata.deletion_timestamp is not None:
            return
        starts = dict(_starts(pod))
        if not starts:
            return
        template = template_text(pod)
        if template not in self._found:
            self._found[template] = used_keys(pod, self._histories)
        for named, spots in self._found[template].present.items():
            start = starts.get(named.container)
            if start is not None:
                yield from self._present(named, spots, start)
        for absence in self._found[template].absent:
            start = starts.get(absence.named.container)
            if start is not None:
                yield from self._absent(absence, start)

    def _present(self, named: NamedUse, spots: Sequence[Spot], start: Start) -> Iterator[KeyUse]:
        history = self._histories[named.object]
        if isinstance(history, RefletError):
            return
        if not self._current:
            if named.object not in self._newest:
                self._newest[named.object] = _newest(history)
            newest = self._newest[named.object]
            if surely_current(history, start, named.arrival, newest=newest):
                return
        for spot in spots:
            judgement = judge(
                history, spot.key, start, named.arrival, now=self._now, held_back=spot.held_back
            )
            if self._current or judgement.state is not HeldState.CURRENT:
                yield _use(named, spot, judgement)

    def _absent(self, absence: Absence, start: Start) -> Iterator[KeyUse]:
        named, spot = absence.named, absence.spot
        if isinstance(absence.answer, HeldValue):
            yield _use(named, spot, absence.answer)
            return
        judgement = judge(absence.answer, spot.key, start, named.arrival, now=self._now)
        if self._current or judgement.state is not HeldState.CURRENT:
            yield _use(named, spot, judgement)


def _starts(pod: Pod) -> Iterator[tuple[str, Start]]:
    """Yield the containers that run; an init container that does is a sidecar."""
    status, made = pod.status, pod.metadata.creation_timestamp
    every: tuple[ContainerStatus, ...] = (
        *status.init_container_statuses,
        *status.container_statuses,
        *status.ephemeral_container_statuses,
    )
    for each in every:
        running = each.state.running
        if running is not None:
            again = each.restart_count > 0
            yield each.name, Start(pod_created=made, at=running.started_at, again=again)


def _newest(history: ObjectHistory) -> datetime | None:
    """Return when a key was last written; ``None`` when that is not known of all of them."""
    writes = [history.last_write(key) for key in (*history.keys, *history.binary_keys)]
    times = [write.at for write in writes if write is not None]
    return max(times) if times and len(times) == len(writes) else None


def _use(named: NamedUse, spot: Spot, judgement: HeldValue) -> KeyUse:
    kind, _, name = named.object
    return KeyUse(
        container=named.container,
        arrival=named.arrival,
        name=spot.name,
        kind=kind,
        object=name,
        key=spot.key,
        judgement=judgement,
    )
