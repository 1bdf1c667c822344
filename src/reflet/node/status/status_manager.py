"""The statuses of pods, on their way to the API server.

A status is written only where it differs from what the server has, as a patch of the difference.
An older status never overtakes a newer one, because each pod has one place in the line and its
latest status in it.  A server that is away is asked again with a back-off; a pod that has ended
is deleted for good only after its last status was written.

``LocalStatuses`` is for pods from files, of which no server is told.

Upstream: pkg/kubelet/status/status_manager.go, manager (SetPodStatus, syncPod, TerminatePod).
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from reflet.api.codec import encode
from reflet.api.core.pods import Pod, PodStatus
from reflet.api.options import DeleteOptions, PatchType
from reflet.client.client import Client
from reflet.errors import Conflict, Forbidden, Invalid, NotFound, RefletError
from reflet.node.status.pod_conditions import OURS
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics

WRITERS: Final = 4
REFUSED_AGAIN: Final = 10.0  # seconds until what was refused is tried again, as the kubelet does
LONGEST_PAUSE: Final = 7.0  # seconds, and by chance as much again, while the server is away
OTHERS_FIELDS: Final = frozenset({"qosClass", "nominatedNodeName"})
"""Fields that the server and the scheduler write."""

logger = logging.getLogger(__name__)


class StatusSink(Protocol):
    """Whoever takes the statuses of pods."""

    def report(self, pod: Pod, status: PodStatus, /) -> None:
        """This is the pod's status now."""
        ...

    async def finish(self, pod: Pod, /) -> None:
        """The pod has ended and can go; returns when it is gone, raises when it may not go."""
        ...

    def forget(self, uid: str, /) -> None:
        """Nothing more is told of this pod."""
        ...


class LocalStatuses:
    """Remembers statuses, and has nobody to tell.  Is a ``StatusSink``."""

    def __init__(self) -> None:
        self.latest: dict[str, PodStatus] = {}

    def report(self, pod: Pod, status: PodStatus, /) -> None:
        """Remember it."""
        self.latest[pod.metadata.uid] = status

    async def finish(self, pod: Pod, /) -> None:
        """Forget the pod."""
        self.forget(pod.metadata.uid)

    def forget(self, uid: str, /) -> None:
        """Forget the pod."""
        self.latest.pop(uid, None)


class _Outcome(enum.StrEnum):
    WRITTEN = "written"
    REFUSED = "refused"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class _Report:
    pod: Pod
    status: PodStatus
    version: int


class StatusManager:
    """Writes the statuses of pods, several at a time, each pod's in order.

    ``report`` returns at once.  ``finish`` waits until a pod's last status is written and then
    deletes the pod for good, as only its node may.  A status that is refused holds up nobody, and
    is tried again now and then: whoever refused may have been mistaken.
    """

    def __init__(
        self,
        cluster: Client,
        *,
        clock: Clock | None = None,
        metrics: Metrics = NO_METRICS,
        writers: int = WRITERS,
    ) -> None:
        self._cluster = cluster
        self._clock = clock or SystemClock()
        self._metrics = metrics
        self._writers = writers
        self._version = 0
        self._latest: dict[str, _Report] = {}
        self._written: dict[str, tuple[int, PodStatus]] = {}
        self._line: asyncio.Queue[str] = asyncio.Queue()
        self._in_line: set[str] = set()
        self._refused: set[str] = set()
        self._progress: dict[str, asyncio.Event] = {}

    @property
    def waiting(self) -> int:
        """How many pods have a status that is not written yet."""
        return len(self._in_line)

    def report(self, pod: Pod, status: PodStatus) -> None:
        """Have this status written; *pod* is the pod as the server has it."""
        uid = pod.metadata.uid
        known = self._latest.get(uid)
        if known is not None and known.status == status and known.pod is pod:
            return
        self._version += 1
        self._latest[uid] = _Report(pod, status, self._version)
        self._stand_in_line(uid)

    def forget(self, uid: str) -> None:
        """Nothing more is told of this pod."""
        self._latest.pop(uid, None)
        self._written.pop(uid, None)
        self._refused.discard(uid)
        event = self._progress.pop(uid, None)
        if event is not None:
            event.set()

    async def run(self) -> None:
        """Write what there is until cancelled."""
        # One job in pieces: a writer that fails takes the others along, and all begin again.
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._writers):
                tasks.create_task(self._write_for_ever(), name=f"status writer {number}")
            while True:
                await self._clock.sleep(REFUSED_AGAIN)
                for uid in self._refused:
                    self._stand_in_line(uid)

    async def written(self, uid: str) -> None:
        """Return when the latest status of a pod is on the server, or was refused there."""
        while uid in self._latest and not self._is_written(uid):
            event = self._progress.setdefault(uid, asyncio.Event())
            await event.wait()

    async def finish(self, pod: Pod) -> None:
        """Delete a pod for good, after its last status was written; asked until it is gone.

        Raises Forbidden when the server does not allow it; the pod is still there then.
        """
        uid = pod.metadata.uid
        await self.written(uid)
        backoff = Backoff(ceiling=LONGEST_PAUSE, clock=self._clock)
        pods = self._cluster.resource(Pod, namespace=pod.metadata.namespace)
        while True:
            try:
                await pods.delete(pod.metadata.name, DeleteOptions(grace_period_seconds=0, uid=uid))
            except (NotFound, Conflict):
                break  # gone, and perhaps another one has its name
            except Forbidden:
                raise
            except (RefletError, OSError) as error:  # a garbled answer, or no token at hand, too
                logger.info("pod %s is deleted later: %s", _name(pod), error)
                await self._clock.sleep(backoff.next_delay())
            else:
                break
        self.forget(uid)

    # inside

    def _stand_in_line(self, uid: str) -> None:
        if uid not in self._in_line:
            self._in_line.add(uid)
            self._line.put_nowait(uid)

    def _is_written(self, uid: str) -> bool:
        written = self._written.get(uid)
        return written is not None and written[0] >= self._latest[uid].version

    async def _write_for_ever(self) -> None:
        backoff = Backoff(ceiling=LONGEST_PAUSE, clock=self._clock)
        while True:
            uid = await self._line.get()
            try:
                again = await self._write(uid)
            except (RefletError, OSError) as error:  # as above
                self._metrics.count("reflet_node_status_writes_total", result="failed")
                logger.info("a status waits for the server: %s", error)
                self._line.put_nowait(uid)
                await self._clock.sleep(backoff.next_delay())
                continue
            except BaseException:
                self._line.put_nowait(uid)  # whoever writes next finds it where it was
                raise
            backoff.reset()
            if again:
                self._line.put_nowait(uid)
            else:
                self._in_line.discard(uid)
            event = self._progress.pop(uid, None)
            if event is not None:
                event.set()

    async def _write(self, uid: str) -> bool:
        """Write the latest status of a pod; whether there is a later one by now."""
        report = self._latest.get(uid)
        if report is None:
            return False
        before = self._written.get(uid)
        known = report.pod.status if before is None else before[1]
        patch = status_patch(uid, known, report.status)
        outcome = _Outcome.WRITTEN if patch is None else await self._patch(report, patch)
        if uid not in self._latest:
            return False
        (self._refused.add if outcome is _Outcome.REFUSED else self._refused.discard)(uid)
        # What was refused is not on the server, and the next difference is not from there.
        is_there = outcome is _Outcome.WRITTEN
        self._written[uid] = (report.version, report.status if is_there else known)
        return self._latest[uid].version > report.version

    async def _patch(self, report: _Report, patch: Mapping[str, Any]) -> _Outcome:
        """Send a patch; what became of it."""
        pod = report.pod
        pods = self._cluster.resource(Pod, namespace=pod.metadata.namespace)
        try:
            await pods.patch(pod.metadata.name, patch, PatchType.STRATEGIC, subresource="status")
        except (NotFound, Conflict):
            # Or another pod has its name; this one's status is nobody's concern any more.
            outcome = _Outcome.GONE
        except (Forbidden, Invalid) as error:
            # Asking at once would change nothing; rights that were missing may be given later.
            outcome = _Outcome.REFUSED
            level = logging.INFO if pod.metadata.uid in self._refused else logging.WARNING
            logger.log(level, "the status of pod %s is refused: %s", _name(pod), error)
        else:
            outcome = _Outcome.WRITTEN
        self._metrics.count("reflet_node_status_writes_total", result=outcome)
        return outcome


def status_patch(uid: str, before: PodStatus, wanted: PodStatus) -> dict[str, Any] | None:
    """The strategic patch from one status to another; None when there is nothing to write.

    It names the pod's uid, so that it cannot hit another pod of the same name.
    """
    old, new = _document(before), _document(wanted)
    changed: dict[str, Any] = {}
    for name in old | new:
        if name in OTHERS_FIELDS or old.get(name) == new.get(name):
            continue
        changed[name] = new.get(name)
    if "podIPs" in changed or "hostIPs" in changed:
        for name in ("podIPs", "hostIPs"):
            if name in changed and changed[name] is not None:
                # Merged by address, so those that went would stay.
                changed[name] = [{"$patch": "replace"}, *changed[name]]
    if "conditions" in changed:
        changed["conditions"] = _changed_conditions(old.get("conditions", ()), new)
    return {"metadata": {"uid": uid}, "status": changed} if changed else None


def _changed_conditions(
    old: Sequence[Mapping[str, Any]], new: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Conditions are merged field by field, so what no longer holds has to be taken away."""
    before = {each["type"]: each for each in old}
    return [
        dict.fromkeys(before.get(each["type"], ()), None) | each
        for each in new.get("conditions", ())
    ]


def _document(status: PodStatus) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(encode(status))
    if "conditions" in document:
        # Merged by type: those of others stay, and what we know of them may be old by now.
        document["conditions"] = [each for each in document["conditions"] if each["type"] in OURS]
    for group in ("initContainerStatuses", "containerStatuses"):
        for each in document.get(group, ()):
            # Required by the API, and left out where they have their default.
            for name, value in (
                ("ready", False),
                ("restartCount", 0),
                ("image", ""),
                ("imageID", ""),
            ):
                each.setdefault(name, value)
            for state in ("state", "lastState"):
                ended = each.get(state, {}).get("terminated")
                if ended is not None:
                    ended.setdefault("exitCode", 0)
    return document


def _name(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
