"""``/containerLogs/NAMESPACE/POD/CONTAINER``: what ``kubectl logs`` asks a node for.

Owns: who may read, which is asked of the API server as the kubelet does, and which log is meant.
How a log is read is ``log_reading``.  Must not know HTTP.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from reflet.api.pods import Pod
from reflet.client.client import Client
from reflet.errors import RefletError
from reflet.node.container_records import ContainerRecord
from reflet.node.http_answers import Answer, Question, text
from reflet.node.log_files import stamp
from reflet.node.log_reading import LogChoice, read_log
from reflet.podstatus.runtime_status import RuntimeState
from reflet.resolution.places import containers_of
from reflet.runtime.clock import Clock

CACHE: Final = 60.0  # seconds for which an answer about a token is good
MOST_CACHED: Final = 256

logger = logging.getLogger(__name__)

FindPod = Callable[[str, str], Pod | None]
Records = Callable[[str], Awaitable[list[ContainerRecord]]]


class ReaderReview:
    """Asks the API server who holds a token, and whether they may read this node's logs.

    As the kubelet does: the token by a TokenReview, the right by a SubjectAccessReview for
    ``get nodes/proxy`` of this node.
    """

    def __init__(self, cluster: Client, node: str, *, clock: Clock) -> None:
        self._cluster = cluster
        self._node = node
        self._clock = clock
        self._known: dict[str, tuple[float, str | None]] = {}

    async def refusal(self, question: Question) -> str | None:
        """Why whoever asks may not read logs; None when they may."""
        if question.subject:
            return await self._access({"user": question.subject})
        scheme, _, token = question.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return "logs are shown to whoever has a token of the cluster"
        token = token.strip()
        now = self._clock.monotonic()
        known = self._known.get(token)
        if known is not None and known[0] > now:
            return known[1]
        answer = await self._review(token)
        if len(self._known) >= MOST_CACHED:
            self._known.clear()
        self._known[token] = (now + CACHE, answer)
        return answer

    async def _review(self, token: str) -> str | None:
        status = await self._ask("tokenreviews", "authentication.k8s.io", {"token": token})
        if not status.get("authenticated"):
            return "the token is not good for this cluster"
        user = status.get("user") or {}
        return await self._access(
            {
                "user": user.get("username", ""),
                "uid": user.get("uid", ""),
                "groups": user.get("groups", []),
            }
        )

    async def _access(self, who: Mapping[str, Any]) -> str | None:
        attributes = {
            "verb": "get",
            "resource": "nodes",
            "subresource": "proxy",
            "version": "v1",
            "name": self._node,
        }
        status = await self._ask(
            "subjectaccessreviews",
            "authorization.k8s.io",
            {**who, "resourceAttributes": attributes},
        )
        if status.get("allowed"):
            return None
        return f"{who.get('user')} may not get nodes/proxy of {self._node}"

    async def _ask(self, plural: str, group: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        resource = await self._cluster.find(plural)
        kind = "TokenReview" if plural == "tokenreviews" else "SubjectAccessReview"
        review = {"apiVersion": f"{group}/v1", "kind": kind, "spec": dict(spec)}
        made = await self._cluster.resource(resource, raw=True).create(review)
        status: dict[str, Any] = made.to_dict().get("status") or {}
        return status


class LogService:
    """Answers with the logs of this node's containers."""

    def __init__(
        self, review: ReaderReview, *, find_pod: FindPod, records: Records, clock: Clock
    ) -> None:
        self._review = review
        self._find_pod = find_pod
        self._records = records
        self._clock = clock

    async def answer(self, question: Question) -> Answer:
        """Answer one request for a log."""
        if len(question.path) != 4:
            return text(404, "logs are at /containerLogs/NAMESPACE/POD/CONTAINER")
        try:
            refusal = await self._review.refusal(question)
        except RefletError as error:
            return text(503, f"nobody can say who may read logs now: {error}")
        if refusal is not None:
            status = 403 if "authorization" in question.headers or question.subject else 401
            return text(status, refusal)
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
            return text(
                400,
                f'{what} "{container}" in pod "{pod.metadata.name}" '
                + ("not found" if previous else "is waiting to start: ContainerCreating"),
            )
        record = lives[previous]
        try:
            choice = self._choice(question)
        except (ValueError, OverflowError, msgspec.ValidationError) as error:
            return text(400, f"the request cannot be understood: {error}")
        ended = record.state is not RuntimeState.RUNNING

        async def still_runs() -> bool:
            try:
                now = await self._records(uid)
            except RefletError:
                return True  # nobody can tell now, and more may come
            return any(each.id == record.id and each.finished_at is None for each in now)

        pieces = read_log(record.log, choice, is_running=None if ended else still_runs)
        return Answer(200, pieces)

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


def _flag(question: Question, name: str) -> bool:
    return question.query.get(name, "").lower() in {"true", "1"}


def _number(question: Question, name: str) -> int | None:
    value = question.query.get(name)
    return int(value) if value else None
