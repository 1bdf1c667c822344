from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.pods import Pod
from reflet.client.client import Client
from reflet.errors import ConnectionRefused, RefletError
from reflet.node.container_records import ContainerRecord
from reflet.node.http_answers import Answer, Question
from reflet.node.keeper_protocol import KeeperUnavailable
from reflet.node.log_service import CACHE, LogService, ReaderReview
from reflet.podstatus.runtime_status import RuntimeState
from reflet.processes.endings import Exited
from reflet.processes.process_identity import ProcessIdentity
from reflet.testing.manual_clock import ManualClock
from tests.unit.node.pods import pod


class Made:
    """What a server answers to a review."""

    def __init__(self, status: dict[str, Any]) -> None:
        self._status = status

    def to_dict(self) -> dict[str, Any]:
        return {"status": self._status}


class Reviews:
    """A server that knows the token ``good`` of ``ann``, who may read, and ``weak`` of ``bob``."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.reviewed: dict[str, Any] = {}
        self.failure: RefletError | None = None

    async def find(self, plural: str) -> str:
        return plural

    def resource(self, plural: str, *, raw: bool) -> Reviews:
        assert raw
        self.asked.append(plural)
        return self

    async def create(self, review: dict[str, Any]) -> Made:
        if self.failure is not None:
            raise self.failure
        spec = review["spec"]
        if review["kind"] == "TokenReview":
            user = {"good": "ann", "weak": "bob"}.get(spec["token"])
            return Made({"authenticated": user is not None, "user": {"username": user}})
        self.reviewed = spec
        return Made({"allowed": spec["user"] == "ann"})


class Stage:
    """Pod ``shop/web`` on node ``worker-1``, and the lives of its container."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.reviews = Reviews()
        self.lives: list[ContainerRecord] = []
        self.keeper_failure: RefletError | None = None
        self._folder = folder
        review = ReaderReview(cast("Client", self.reviews), "worker-1", clock=self.clock)
        self.service = LogService(
            review, find_pod=self._find, records=self._records, clock=self.clock
        )

    def _find(self, namespace: str, name: str) -> Pod | None:
        return pod() if (namespace, name) == ("shop", "web") else None

    async def _records(self, _: str) -> list[ContainerRecord]:
        if self.keeper_failure is not None:
            raise self.keeper_failure
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

    async def asked(
        self, token: str | None = "good", path: str = "shop/web/main", **query: str
    ) -> tuple[int, str]:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        question = Question(("containerLogs", *path.split("/")), query, headers)
        return await said(await self.service.answer(question))


async def said(answer: Answer) -> tuple[int, str]:
    if isinstance(answer.body, bytes):
        return answer.status, answer.body.decode()
    return answer.status, b"".join([piece async for piece in answer.body]).decode()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


# Who may read


@pytest.mark.parametrize(
    ("token", "status", "words"),
    [
        (None, 401, "logs are shown to whoever has a token of the cluster\n"),
        ("bad", 403, "the token is not good for this cluster\n"),
        ("weak", 403, "bob may not get nodes/proxy of worker-1\n"),
        ("good", 200, "hello\n"),
    ],
)
async def test_logs_are_for_those_whom_the_server_lets_read_them(
    stage: Stage, token: str | None, status: int, words: str
) -> None:
    stage.lived("hello")

    assert await stage.asked(token) == (status, words)


async def test_the_right_is_the_one_that_the_kubelet_asks_for(stage: Stage) -> None:
    await stage.asked()

    assert stage.reviews.reviewed["resourceAttributes"] == {
        "verb": "get",
        "resource": "nodes",
        "subresource": "proxy",
        "version": "v1",
        "name": "worker-1",
    }


async def test_what_was_said_of_a_token_holds_for_a_minute(stage: Stage) -> None:
    await stage.asked()
    await stage.asked()
    once = len(stage.reviews.asked)
    stage.clock.advance(CACHE + 1)
    await stage.asked()

    assert (once, len(stage.reviews.asked)) == (2, 4)


async def test_whoever_shows_a_certificate_needs_no_token(stage: Stage) -> None:
    stage.lived("hello")
    path = ("containerLogs", "shop", "web", "main")

    ann = await said(await stage.service.answer(Question(path, {}, {}, subject="ann")))
    bob = await said(await stage.service.answer(Question(path, {}, {}, subject="bob")))

    assert (ann, bob[0]) == ((200, "hello\n"), 403)


async def test_while_the_server_is_away_nobody_may_read(stage: Stage) -> None:
    stage.lived("hello")
    stage.reviews.failure = ConnectionRefused("nobody is there")

    assert await stage.asked() == (
        503,
        "nobody can say who may read logs now: nobody is there\n",
    )


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


async def test_the_life_before_can_be_asked_for(stage: Stage) -> None:
    stage.lived("first")
    missing = await stage.asked(previous="true")
    stage.lived("second")

    assert await stage.asked() == (200, "second\n")
    assert await stage.asked(previous="true") == (200, "first\n")
    assert missing[0] == 400


async def test_a_keeper_that_is_away_is_told_and_is_no_failure_of_ours(stage: Stage) -> None:
    stage.keeper_failure = KeeperUnavailable("the keeper is away")

    assert await stage.asked() == (503, "the log cannot be found now: the keeper is away\n")


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
        {"authorization": "Bearer good"},
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
