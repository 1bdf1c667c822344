"""``/containerLogs/NAMESPACE/POD/CONTAINER``: what ``kubectl logs`` asks a node for.

Which log is meant, and how many are read at a time; how one is read is ``log_reading``.

Upstream: pkg/kubelet/server/server.go, Server.getContainerLogs
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from reflet.api.core.pods import Pod
from reflet.errors import RefletError, TransportError
from reflet.node.container_runtime import ContainerLife
from reflet.node.descriptor_budget import MOST_LOGS
from reflet.node.server.log_reading import IsRunning, LogChoice, read_log
from reflet.node.shim.log_files import stamp
from reflet.pleg.runtime_status import RuntimeState
from reflet.resolution.places import containers_of
from reflet.runtime.clock import Clock
from reflet.transport.serving.http_answers import Answer, Question, text

WHEN_FULL: Final = 5  # seconds after which somebody may have finished

IN_WORDS: Final = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}
"""What a container waits for, where the kubelet does not say it with the reason itself."""

FindPod = Callable[[str, str], Pod | None]
Lives = Callable[[str], Awaitable[Sequence[ContainerLife]]]


class LogService:
    """Answers with the logs of this node's containers, whoever asks.

    At most *most* logs are read at a time, since each keeps files open; those who read take
    *turns*, so that one thread is all that they need.
    """

    def __init__(
        self,
        *,
        find_pod: FindPod,
        records: Lives,
        clock: Clock,
        most: int = MOST_LOGS,
        turns: asyncio.Semaphore | None = None,
    ) -> None:
        self._find_pod = find_pod
        self._records = records
        self._clock = clock
        self._most = most
        self._reading = 0
        self._turns = turns or asyncio.Semaphore()

    async def answer(self, question: Question) -> Answer:
        """Answer one request for a log."""
        if len(question.path) != 4:
            return text(404, "logs are at /containerLogs/NAMESPACE/POD/CONTAINER")
        _, namespace, name, container = question.path
        pod = self._find_pod(namespace, name)
        if pod is None:
            return text(404, f'pods "{name}" not found')
        if all(each.container.name != container for each in containers_of(pod.spec)):
            return text(404, f"container {container} is not in pod {name}")
        try:
            return await self._log(question, pod, container)
        except RefletError as error:
            return text(503, f"the log cannot be found now: {error}")

    async def _log(self, question: Question, pod: Pod, container: str) -> Answer:
        uid = pod.metadata.uid
        lives = [each for each in await self._records(uid) if each.name == container]
        previous = _flag(question, "previous")
        if len(lives) <= previous:
            what = "previous terminated container" if previous else "container"
            why = "not found" if previous else f"is waiting to start: {_waits_for(pod, container)}"
            return text(400, f'{what} "{container}" in pod "{pod.metadata.name}" {why}')
        record = lives[previous]
        try:
            choice = self._choice(question)
        except (ValueError, OverflowError, msgspec.ValidationError) as error:
            return text(400, f"the request cannot be understood: {error}")
        ended = record.state is not RuntimeState.RUNNING
        still_runs = None if ended else partial(goes_on, record, self._records)
        if self._reading >= self._most:
            words = f"{self._most} logs are being read, and no more fit: ask again later"
            return text(429, words, retry_after=WHEN_FULL)
        return Answer(200, self._read(record.log, choice, still_runs))

    async def _read(
        self, log: Path, choice: LogChoice, is_running: IsRunning | None
    ) -> AsyncGenerator[bytes, None]:
        if self._reading >= self._most:
            # Of many who ask at the same moment all were let in; these find the answer broken off.
            raise TransportError("too many logs are being read")
        self._reading += 1
        pieces = read_log(log, choice, is_running=is_running, turns=self._turns)
        try:
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    yield piece
        finally:
            self._reading -= 1

    def _choice(self, question: Question) -> LogChoice:
        query = question.query
        since = ""
        if query.get("sinceSeconds"):
            moment = self._clock.now() - timedelta(seconds=int(query["sinceSeconds"]))
            since = stamp(moment).decode()
        elif query.get("sinceTime"):
            moment = msgspec.convert(query["sinceTime"], datetime)
            since = stamp(moment.astimezone(UTC)).decode()
        return LogChoice(
            follow=_flag(question, "follow"),
            timestamps=_flag(question, "timestamps"),
            tail_lines=_number(question, "tailLines"),
            limit_bytes=_number(question, "limitBytes"),
            since=since,
        )


async def goes_on(record: ContainerLife, records: Lives) -> bool:
    """Whether a container that ran may still write."""
    try:
        now = await records(record.uid)
    except RefletError:
        return True  # nobody can tell now, and more may come
    return any(each.id == record.id and each.state is not RuntimeState.EXITED for each in now)


def _waits_for(pod: Pod, container: str) -> str:
    """Why a container has not started, as its status says.

    Upstream: pkg/kubelet/kubelet_pods.go, validateContainerLogStatus
    """
    status = pod.status
    known = (
        *status.container_statuses,
        *status.init_container_statuses,
        *status.ephemeral_container_statuses,
    )
    reasons = [
        each.state.waiting.reason
        for each in known
        if each.name == container and each.state.waiting is not None
    ]
    reason = reasons[0] if reasons else ""
    return IN_WORDS.get(reason, reason or "ContainerCreating")


def _flag(question: Question, name: str) -> bool:
    return question.query.get(name, "").lower() in {"true", "1"}


def _number(question: Question, name: str) -> int | None:
    value = question.query.get(name)
    return int(value) if value else None
