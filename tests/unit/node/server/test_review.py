from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from reflet.client.client import Client
from reflet.errors import ConnectionRefused, RefletError
from reflet.node.server.review import BURST, CACHE, EVERY, MOST_CACHED, ReaderReview
from reflet.testing.virtual_time import ManualClock
from reflet.transport.serving.http_answers import Answer, Question

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
        self.review = ReaderReview(cast("Client", self.server), "worker-1", clock=self.clock)

    async def with_token(self, token: str, path: str = LOGS, *, peer: str = "") -> str:
        return await self.heard(path, {"authorization": f"Bearer {token}"}, peer=peer)

    async def with_certificate(self, subject: str, *groups: str, path: str = LOGS) -> str:
        return await self.heard(path, {}, subject, groups)

    async def heard(
        self,
        path: str,
        headers: dict[str, str],
        subject: str = "",
        groups: tuple[str, ...] = (),
        *,
        peer: str = "",
    ) -> str:
        answer = await self.answer(path, headers, subject, groups, peer=peer)
        return "may" if answer is None else said(answer)

    async def answer(
        self,
        path: str,
        headers: dict[str, str],
        subject: str = "",
        groups: tuple[str, ...] = (),
        *,
        peer: str = "",
    ) -> Answer | None:
        parts = tuple(part for part in path.split("/") if part)
        return await self.review.refusal(Question(parts, {}, headers, subject, groups, peer))


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


@pytest.mark.parametrize(
    "path", ["exec/default/web/main", "attach/default/web/main", "portForward/default/web"]
)
async def test_commands_and_ports_need_the_right_to_create(stage: Stage, path: str) -> None:
    stage.server.granted = set()

    assert await stage.with_token("good", path) == "403 ann may not create nodes/proxy of worker-1"


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


# What strangers can do


async def shown(stage: Stage, tokens: int, *, peer: str = "192.0.2.7") -> list[str]:
    """What is answered to so many bad tokens."""
    return [await stage.with_token(f"bad {number}", peer=peer) for number in range(tokens)]


async def test_tokens_of_one_peer_are_reviewed_so_many_at_once(stage: Stage) -> None:
    answers = await shown(stage, 2 * BURST)
    refusal = await stage.answer(LOGS, {"authorization": "Bearer other"}, peer="192.0.2.7")
    other = await stage.with_token("good", peer="192.0.2.8")

    assert {answer[:3] for answer in answers[:BURST]} == {"401"}
    words = "429 too many tokens come from your address: ask again later"
    assert set(answers[BURST:]) == {words}
    assert stage.server.asked.count("tokenreviews") == BURST + 1
    assert refusal is not None
    assert refusal.retry_after == 1
    assert other == "may"


async def test_a_peer_may_ask_again_after_a_while(stage: Stage) -> None:
    await shown(stage, BURST)
    too_early = await stage.with_token("good", peer="192.0.2.7")
    stage.clock.advance(EVERY)

    assert (too_early[:3], await stage.with_token("good", peer="192.0.2.7")) == ("429", "may")


async def test_who_was_refused_is_remembered_too(stage: Stage) -> None:
    await stage.with_token("bad")
    await stage.with_token("bad")

    assert stage.server.asked == ["tokenreviews"]


async def test_strangers_do_not_make_readers_forgotten(stage: Stage) -> None:
    await stage.with_token("good")
    before = len(stage.server.asked)
    for number in range(2 * MOST_CACHED):
        await stage.with_token(f"bad {number}", peer=f"192.0.2.{number}")
    asked = len(stage.server.asked)
    await stage.with_token("good")

    assert (asked - before, len(stage.server.asked)) == (2 * MOST_CACHED, asked)
    assert (len(stage.review._readers), len(stage.review._others)) == (1, MOST_CACHED)


async def test_a_reader_does_not_wait_behind_strangers_of_the_same_peer(stage: Stage) -> None:
    await stage.with_token("good", peer="192.0.2.7")
    stage.clock.advance(CACHE + 1)
    await shown(stage, 2 * BURST)

    assert await stage.with_token("good", peer="192.0.2.7") == "may"


async def test_who_is_no_longer_a_reader_is_a_stranger_again(stage: Stage) -> None:
    await stage.with_token("good", peer="192.0.2.7")
    stage.server.granted = set()
    stage.clock.advance(CACHE + 1)
    refused = await stage.with_token("good", peer="192.0.2.7")
    await shown(stage, BURST)
    stage.clock.advance(CACHE + 1)
    await shown(stage, BURST)

    assert refused[:3] == "403"
    assert (await stage.with_token("good", peer="192.0.2.7"))[:3] == "429"


async def test_a_certificate_is_known_without_a_review_and_is_not_limited(stage: Stage) -> None:
    await shown(stage, BURST)

    answer = await stage.heard(LOGS, {}, "cat", ("readers",), peer="192.0.2.7")

    assert answer == "may"


async def test_the_same_question_at_the_same_time_is_asked_once(stage: Stage) -> None:
    answers = await asyncio.gather(*[stage.with_token("good") for _ in range(2 * BURST)])

    assert set(answers) == {"may"}
    assert stage.server.asked == ["tokenreviews", "subjectaccessreviews"]


async def test_no_token_is_kept(stage: Stage) -> None:
    for token in ("good", "bad"):
        await stage.with_token(token)

    kept = f"{stage.review._readers._known} {stage.review._others._known}"
    assert "good'" not in kept
    assert "bad" not in kept
