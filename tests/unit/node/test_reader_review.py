from __future__ import annotations

from typing import Any, cast

import pytest

from reflet.client.client import Client
from reflet.errors import ConnectionRefused, RefletError
from reflet.node.http_answers import Answer, Question
from reflet.node.reader_review import CACHE, MOST_CACHED, ReaderReview
from reflet.testing.manual_clock import ManualClock

LOGS = "containerLogs/shop/web/main"


class Made:
    """What a server answers to a review."""

    def __init__(self, status: dict[str, Any]) -> None:
        self._status = status

    def to_dict(self) -> dict[str, Any]:
        return {"status": self._status}


class Reviews:
    """A server that knows the token ``good`` of ann, in the group readers, and ``weak`` of bob.

    Readers have the rights that ``granted`` has.
    """

    def __init__(self) -> None:
        self.granted = {"proxy"}
        self.asked: list[str] = []
        self.specs: list[dict[str, Any]] = []
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
            known = {"good": ("ann", ["readers"]), "weak": ("bob", [])}
            user, groups = known.get(spec["token"], (None, []))
            extra = {"node": ["here"]}
            who = {"username": user, "uid": "7", "groups": groups, "extra": extra}
            return Made({"authenticated": user is not None, "user": who})
        self.specs.append(spec)
        right = spec["resourceAttributes"]["subresource"]
        return Made({"allowed": "readers" in spec["groups"] and right in self.granted})

    @property
    def rights(self) -> list[str]:
        return [spec["resourceAttributes"]["subresource"] for spec in self.specs]


class Stage:
    """The reviews of node ``worker-1``."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.server = Reviews()
        self._review = ReaderReview(cast("Client", self.server), "worker-1", clock=self.clock)

    async def with_token(self, token: str, path: str = LOGS) -> str:
        return await self.heard(path, {"authorization": f"Bearer {token}"})

    async def with_certificate(self, subject: str, *groups: str, path: str = LOGS) -> str:
        return await self.heard(path, {}, subject, groups)

    async def heard(
        self,
        path: str,
        headers: dict[str, str],
        subject: str = "",
        groups: tuple[str, ...] = (),
    ) -> str:
        parts = tuple(part for part in path.split("/") if part)
        answer = await self._review.refusal(Question(parts, {}, headers, subject, groups))
        return "may" if answer is None else said(answer)


def said(answer: Answer) -> str:
    assert isinstance(answer.body, bytes)
    return f"{answer.status} {answer.body.decode().strip()}"


@pytest.fixture
def stage() -> Stage:
    return Stage()


# Who asks


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("bad", "401 the token is not good for this cluster"),
        ("weak", "403 bob may not get nodes/proxy of worker-1"),
        ("good", "may"),
    ],
)
async def test_a_token_is_reviewed_by_the_server(stage: Stage, token: str, words: str) -> None:
    assert await stage.with_token(token) == words


@pytest.mark.parametrize("headers", [{}, {"authorization": "Basic good"}, {"authorization": "b"}])
async def test_whoever_does_not_say_who_they_are_is_asked_to(
    stage: Stage, headers: dict[str, str]
) -> None:
    answer = await stage.heard(LOGS, headers)

    assert answer == "401 say who you are, with a token of the cluster or a client certificate"
    assert stage.server.asked == []


async def test_all_that_a_token_tells_of_its_owner_counts(stage: Stage) -> None:
    await stage.with_token("good")

    (spec,) = stage.server.specs
    del spec["resourceAttributes"]
    who = {"user": "ann", "uid": "7", "groups": ["readers"], "extra": {"node": ["here"]}}
    assert spec == who


async def test_a_certificate_tells_the_user_and_the_groups(stage: Stage) -> None:
    answers = [
        await stage.with_certificate("cat", "others", "readers"),
        await stage.with_certificate("dan", "others"),
    ]

    assert answers == ["may", "403 dan may not get nodes/proxy of worker-1"]
    assert stage.server.asked == ["subjectaccessreviews"] * 2


async def test_whoever_has_a_certificate_is_of_those_whom_the_cluster_knows(stage: Stage) -> None:
    await stage.with_certificate("cat", "readers")

    (spec,) = stage.server.specs
    assert spec["groups"] == ["readers", "system:authenticated"]


async def test_a_certificate_comes_before_a_token(stage: Stage) -> None:
    answer = await stage.heard(LOGS, {"authorization": "Bearer good"}, "dan")

    assert answer == "403 dan may not get nodes/proxy of worker-1"


# Which right


async def test_the_right_is_about_this_node(stage: Stage) -> None:
    await stage.with_token("good")

    assert stage.server.specs[0]["resourceAttributes"] == {
        "verb": "get",
        "resource": "nodes",
        "subresource": "proxy",
        "version": "v1",
        "name": "worker-1",
    }


@pytest.mark.parametrize(
    ("path", "rights"),
    [
        (LOGS, ["proxy"]),
        ("metrics", ["metrics"]),
        ("pods", ["pods", "proxy"]),
        ("healthz", ["healthz", "proxy"]),
        ("livez/ping", ["healthz", "proxy"]),
        ("readyz", ["healthz", "proxy"]),
        ("nothing", ["proxy"]),
        ("", ["proxy"]),
    ],
)
async def test_every_page_needs_the_right_that_the_kubelet_asks_for(
    stage: Stage, path: str, rights: list[str]
) -> None:
    stage.server.granted = set()

    answer = await stage.with_token("good", path)

    assert stage.server.rights == rights
    wanted = " or ".join(f"nodes/{right}" for right in rights)
    assert answer == f"403 ann may not get {wanted} of worker-1"


@pytest.mark.parametrize(("right", "asked"), [("pods", ["pods"]), ("proxy", ["pods", "proxy"])])
async def test_one_of_two_rights_is_enough(stage: Stage, right: str, asked: list[str]) -> None:
    stage.server.granted = {right}

    assert await stage.with_token("good", "pods") == "may"
    assert stage.server.rights == asked


async def test_the_right_to_numbers_is_no_right_to_logs(stage: Stage) -> None:
    stage.server.granted = {"metrics"}

    assert await stage.with_token("good", "metrics") == "may"
    assert (await stage.with_token("good")).startswith("403")


# How long an answer holds


async def test_an_answer_holds_for_a_minute(stage: Stage) -> None:
    await stage.with_token("good")
    await stage.with_token("good")
    once = len(stage.server.asked)
    stage.clock.advance(CACHE + 1)
    await stage.with_token("good")

    assert (once, len(stage.server.asked)) == (2, 4)


async def test_an_answer_is_for_one_certificate(stage: Stage) -> None:
    first = await stage.with_certificate("cat", "readers")
    again = await stage.with_certificate("cat", "readers")
    other = await stage.with_certificate("cat")

    assert (first, again, other[:3]) == ("may", "may", "403")
    assert len(stage.server.asked) == 2


async def test_while_the_server_is_away_nobody_may_ask(stage: Stage) -> None:
    stage.server.failure = ConnectionRefused("nobody is there")
    away = await stage.with_token("good")
    stage.server.failure = None

    assert away == "503 nobody can say who may ask now: nobody is there"
    assert await stage.with_token("good") == "may"


async def test_strangers_do_not_fill_the_memory(stage: Stage) -> None:
    for number in range(3 * MOST_CACHED):
        await stage.with_token(f"bad {number}")

    assert len(stage._review._known) <= MOST_CACHED
