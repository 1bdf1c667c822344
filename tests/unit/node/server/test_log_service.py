from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import RefletError, TransportError
from reflet.node.server.log_service import LogService
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import ShimUnavailable
from reflet.pleg.runtime_status import RuntimeState
from reflet.processes.exit_status import Exited
from reflet.processes.process_table import ProcessIdentity
from reflet.testing.virtual_time import ManualClock
from reflet.transport.serving.http_answers import Answer, Question
from tests.unit.node.pod_scenes import pod


class Stage:
    """Pod ``shop/web`` on node ``worker-1``, and the lives of its container."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.lives: list[ContainerRecord] = []
        self.shim_failure: RefletError | None = None
        self._folder = folder
        self.status: dict[str, Any] = {}
        self.service = LogService(
            find_pod=self._find, records=self._records, clock=self.clock, most=2
        )

    def _find(self, namespace: str, name: str) -> Pod | None:
        return pod(status=self.status) if (namespace, name) == ("shop", "web") else None

    async def _records(self, _: str) -> list[ContainerRecord]:
        if self.shim_failure is not None:
            raise self.shim_failure
        return self.lives

    def lived(self, *lines: str, state: RuntimeState = RuntimeState.EXITED) -> None:
        """Add a life that wrote these lines, one a second."""
        attempt = len(self.lives)
        record = ContainerRecord(
            id=f"c{attempt}", uid="u1", name="main", attempt=attempt, folder=str(self._folder)
        )
        text = ""
        for line in lines:
            text += f"{self.clock.now():%Y-%m-%dT%H:%M:%S.000000000Z} stdout F {line}\n"
            self.clock.advance(1.0)
        record.log.write_text(text)
        record = record.running(ProcessIdentity(1, 1, "boot"), self.clock.now())
        if state is RuntimeState.EXITED:
            record = record.ended(Exited(0), self.clock.now())
        self.lives.insert(0, record)

    async def asked(self, path: str = "shop/web/main", **query: str) -> tuple[int, str]:
        question = Question(("containerLogs", *path.split("/")), query, {})
        return await said(await self.service.answer(question))


async def said(answer: Answer) -> tuple[int, str]:
    if isinstance(answer.body, bytes):
        return answer.status, answer.body.decode()
    return answer.status, b"".join([piece async for piece in answer.body]).decode()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


# Which log


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("shop/web", 404, "logs are at /containerLogs/NAMESPACE/POD/CONTAINER\n"),
        ("shop/other/main", 404, 'pods "other" not found\n'),
        ("shop/web/other", 404, "container other is not in pod web\n"),
        (
            "shop/web/main",
            400,
            'container "main" in pod "web" is waiting to start: ContainerCreating\n',
        ),
    ],
)
async def test_a_log_that_is_not_there_is_told_as_kubectl_expects_it(
    stage: Stage, path: str, status: int, words: str
) -> None:
    assert await stage.asked(path=path) == (status, words)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("CreateContainerConfigError", "CreateContainerConfigError"),
        ("ErrImagePull", "image can't be pulled"),
        ("ImagePullBackOff", "trying and failing to pull image"),
    ],
)
async def test_what_a_container_waits_for_is_told_in_the_kubelets_words(
    stage: Stage, reason: str, words: str
) -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": reason}}}
    stage.status = {"containerStatuses": [waiting]}

    expected = f'container "main" in pod "web" is waiting to start: {words}\n'
    assert await stage.asked() == (400, expected)


async def test_the_life_before_can_be_asked_for(stage: Stage) -> None:
    stage.lived("first")
    missing = await stage.asked(previous="true")
    stage.lived("second")

    assert await stage.asked() == (200, "second\n")
    assert await stage.asked(previous="true") == (200, "first\n")
    assert missing[0] == 400


async def test_a_shim_that_is_away_is_told_and_is_no_failure_of_ours(stage: Stage) -> None:
    stage.shim_failure = ShimUnavailable("the shim is away")

    assert await stage.asked() == (503, "the log cannot be found now: the shim is away\n")


# How much of it


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ({"tailLines": "1"}, "three\n"),
        ({"limitBytes": "5"}, "one\nt"),
        ({"sinceSeconds": "2"}, "two\nthree\n"),
        ({"sinceTime": "2025-01-01T00:00:02Z"}, "three\n"),
        ({"tailLines": "1", "timestamps": "true"}, "2025-01-01T00:00:02.000000000Z three\n"),
    ],
)
async def test_a_part_of_a_log_can_be_asked_for(
    stage: Stage, query: dict[str, str], lines: str
) -> None:
    stage.lived("one", "two", "three")

    assert await stage.asked(**query) == (200, lines)


@pytest.mark.parametrize(
    "query",
    [
        {"tailLines": "many"},
        {"sinceSeconds": "9" * 30},
        {"sinceTime": "yesterday"},
    ],
)
async def test_what_cannot_be_understood_is_refused(stage: Stage, query: dict[str, str]) -> None:
    stage.lived("hello")

    status, words = await stage.asked(**query)

    assert (status, words.startswith("the request cannot be understood")) == (400, True)


@pytest.mark.virtual_time
async def test_a_log_is_followed_until_its_container_ends(stage: Stage) -> None:
    stage.lived("one", state=RuntimeState.RUNNING)
    question = Question(
        ("containerLogs", "shop", "web", "main"),
        {"follow": "true"},
        {},
    )
    answer = await stage.service.answer(question)
    assert not isinstance(answer.body, bytes)
    first = await anext(answer.body)
    (record,) = stage.lives
    with record.log.open("a") as log:
        log.write("2025-01-01T00:00:09.000000000Z stdout F two\n")
    stage.lives = [record.ended(Exited(0), stage.clock.now())]
    rest = [piece async for piece in answer.body]

    assert (first, rest) == (b"one\n", [b"two\n"])


# How many at a time


async def begun(stage: Stage) -> AsyncGenerator[bytes, None]:
    """Somebody who follows the log, and has heard its first words."""
    question = Question(("containerLogs", "shop", "web", "main"), {"follow": "true"}, {})
    answer = await stage.service.answer(question)
    assert not isinstance(answer.body, bytes)
    await anext(answer.body)
    return answer.body


async def test_only_so_many_logs_are_read_at_a_time(stage: Stage) -> None:
    stage.lived("one", state=RuntimeState.RUNNING)
    one, two = await begun(stage), await begun(stage)

    answer = await stage.service.answer(Question(("containerLogs", "shop", "web", "main"), {}, {}))
    refusal = (answer.status, answer.retry_after, answer.body)
    await one.aclose()
    after = await stage.asked()
    await two.aclose()

    assert refusal == (429, 5, b"2 logs are being read, and no more fit: ask again later\n")
    assert after == (200, "one\n")


async def test_of_many_who_ask_at_the_same_moment_only_so_many_are_read(stage: Stage) -> None:
    stage.lived("one", state=RuntimeState.RUNNING)
    question = Question(("containerLogs", "shop", "web", "main"), {"follow": "true"}, {})
    bodies = [(await stage.service.answer(question)).body for _ in range(3)]
    async with AsyncExitStack() as reading:
        for body in bodies[:2]:
            assert isinstance(body, AsyncGenerator)
            await reading.enter_async_context(aclosing(body))
            await anext(body)

        assert isinstance(bodies[2], AsyncGenerator)
        with pytest.raises(TransportError, match="too many"):
            await anext(bodies[2])


@pytest.mark.parametrize("query", [{"follow": "true"}, {"tailLines": "9"}, {}])
async def test_a_read_log_makes_room_for_another(stage: Stage, query: dict[str, str]) -> None:
    stage.lived("one")

    assert [await stage.asked(**query) for _ in range(5)] == [(200, "one\n")] * 5
