"""Which keys the containers of a pod have, and in which state: ``Staleness``, asked once for many.

Ten thousand pods are judged once for each spec and time that makes a difference: pods with one
spec, which started when nothing that they use had just changed, hold the same values.  Containers
that do not run are judged as if they were about to start: what is there they will get.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple, final

from msgspec import structs

from reflet.api.core.pods import ContainerState, ContainerStateRunning, ContainerStatus, Pod
from reflet.api.frozen import EMPTY
from reflet.errors import NotFound, RefletError
from reflet.insight.page.page_document import Way
from reflet.insight.stale.held_values import FOLLOWS_WITHIN, Arrival, Certainty, HeldState
from reflet.insight.stale.object_history import ObjectHistory
from reflet.insight.stale.staleness import Staleness
from reflet.insight.stale.used_keys import Histories
from reflet.resolution.objects import ObjectKey
from reflet.resolution.places import containers_of
from reflet.resolution.references.references import Usage, references_of

_AROUND: Final = FOLLOWS_WITHIN + timedelta(seconds=10)
"""Of a change so near to a start it is not plain whether the start has seen it."""
_LATER: Final = timedelta(hours=1)
_WAYS: Final[Mapping[Arrival, Way]] = {
    Arrival.VARIABLE: "variable",
    Arrival.FILE: "file",
    Arrival.SUB_PATH: "subPath",
}
_WAYS_OF_PODS: Final[Mapping[Usage, Way]] = {
    Usage.PULL_SECRET: "pullSecret",
    Usage.VOLUME_CREDENTIALS: "volumeCredentials",
}


class PageUse(NamedTuple):
    """A key that a container has, or will have; the pod itself where ``container`` is empty.

    ``at`` and ``by`` are of the change that counts, and ``among`` is how many keys it may have been
    of, as a judgement has them.
    """

    way: Way
    name: str
    object: ObjectKey
    key: str
    container: str
    state: HeldState
    is_running: bool = False
    is_observed: bool = False
    at: datetime | None = None
    by: str = ""
    among: int = 0


def object_keys(pod: Pod) -> frozenset[ObjectKey]:
    """Return the objects that a pod names."""
    namespace = pod.metadata.namespace
    return frozenset((each.kind, namespace, each.name) for each in references_of(pod))


@final
class UsesOfPods:
    """Answers for the pods of one moment, which stay as they are meanwhile.

    *written* says when somebody wrote the files of an object for a pod, by the pod's uid: what was
    on its way until then has arrived.
    """

    def __init__(
        self,
        histories: Histories,
        *,
        now: datetime,
        written: Mapping[tuple[str, ObjectKey], datetime] = EMPTY,
    ) -> None:
        self._histories = histories
        self._now = now
        self._written = written
        self._staleness = Staleness(histories, now=now)
        self._times: dict[int, list[datetime]] = {}
        self._known: dict[tuple[object, ...], tuple[PageUse, ...]] = {}

    def of(self, pod: Pod) -> tuple[PageUse, ...]:
        """Return what the containers of a pod have, and the pod itself."""
        key = tuple(self._signature(pod))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._judged(pod))
        if not self._written:
            return known
        return tuple(self._as_written(pod.metadata.uid, use) for use in known)

    def _as_written(self, uid: str, use: PageUse) -> PageUse:
        written = self._written.get((uid, use.object))
        if use.state is not HeldState.ON_ITS_WAY or written is None or use.at is None:
            return use
        return use._replace(state=HeldState.CURRENT, is_observed=True) if written >= use.at else use

    def _signature(self, pod: Pod) -> Iterator[object]:
        """Yield all of a pod that the answer depends on."""
        times = self._times.get(id(pod.spec))
        if times is None:
            times = self._times[id(pod.spec)] = sorted(self._moments(pod))
        yield id(pod.spec)
        yield _moment(pod.metadata.creation_timestamp, times)
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            running = status.state.running
            yield status.name
            yield None if running is None else _moment(running.started_at, times)
            yield status.restart_count > 0

    def _moments(self, pod: Pod) -> Iterator[datetime]:
        """Yield every time that a start may have to be compared with."""
        for key in object_keys(pod):
            history = self._histories.get(key)
            if isinstance(history, RefletError) or history is None:
                continue
            every = (history.created, history.since, *(each.at for each in history.writes))
            yield from (each for each in every if each is not None)
            for change in history.changes:
                yield from (change.since, change.at)

    def _judged(self, pod: Pod) -> Iterator[PageUse]:
        running = {
            status.name
            for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
            if status.state.running is not None
        }
        for each in (pod, _about_to_start(pod, running, self._now + _LATER)):
            for use in self._staleness.of(each):
                judgement = use.judgement
                yield PageUse(
                    way=_WAYS[use.arrival],
                    name=use.name,
                    object=(use.kind, pod.metadata.namespace, use.object),
                    key=use.key,
                    container=use.container,
                    state=judgement.state,
                    is_running=use.container in running,
                    is_observed=judgement.certainty is Certainty.OBSERVED,
                    at=judgement.at,
                    by=judgement.by,
                    among=judgement.among,
                )
        yield from self._of_the_pod(pod)

    def _of_the_pod(self, pod: Pod) -> Iterator[PageUse]:
        for reference in references_of(pod):
            way = _WAYS_OF_PODS.get(reference.usage)
            if way is None:
                continue
            key: ObjectKey = (reference.kind, pod.metadata.namespace, reference.name)
            name = reference.place.volume or reference.name
            yield PageUse(way, name, key, "", "", self._existence(key))

    def exists(self, key: ObjectKey) -> bool:
        """Return whether an object is known to be there."""
        history = self._histories.get(key)
        return isinstance(history, ObjectHistory) and history.exists

    def _existence(self, key: ObjectKey) -> HeldState:
        history = self._histories.get(key)
        if isinstance(history, RefletError) and not isinstance(history, NotFound):
            return HeldState.UNKNOWN
        return HeldState.CURRENT if self.exists(key) else HeldState.MISSING


def _about_to_start(pod: Pod, running: set[str], at: datetime) -> Pod:
    """Return the pod as it would be if those containers that do not run were started at a time."""
    begun = ContainerState(running=ContainerStateRunning(started_at=at))
    statuses = tuple(
        ContainerStatus(name=placed.container.name, state=begun)
        for placed in containers_of(pod.spec)
        if placed.container.name not in running
    )
    return structs.replace(
        pod,
        metadata=structs.replace(pod.metadata, creation_timestamp=at),
        status=structs.replace(pod.status, init_container_statuses=(), container_statuses=statuses),
    )


def _moment(moment: datetime | None, times: list[datetime]) -> object:
    """Return what a moment is beside the others: its place among them, or itself if one is near."""
    if moment is None:
        return None
    before = bisect_left(times, moment - _AROUND)
    return before if before == bisect_right(times, moment + _AROUND) else moment
