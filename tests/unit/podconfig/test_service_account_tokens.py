"""Tokens of service accounts, asked for when they are needed and renewed in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.errors import ConnectionRefused, RefletError
from reflet.podconfig.service_account_tokens import (
    RETRY,
    ServiceAccountTokens,
    TokenKey,
    token_keys,
)
from reflet.testing.virtual_time import ManualClock
from tests.unit.podconfig.scenes import TokenDesk
from tests.unit.resolution.scenes import pod_with

HOUR = 3600
DAY = 86_400
KEY = TokenKey("shop", "builder", "", HOUR, ("web-0", "u-1"))


def desk_and_tokens(chance: float = 0.0) -> tuple[ManualClock, TokenDesk, ServiceAccountTokens]:
    clock = ManualClock()
    desk = TokenDesk(clock)
    return clock, desk, ServiceAccountTokens(desk, clock=clock, chance=lambda: chance)


def projected(*tokens: dict[str, Any]) -> dict[str, Any]:
    sources = [{"serviceAccountToken": {"path": "token", **each}} for each in tokens]
    return {"name": "v", "projected": {"sources": sources, "defaultMode": 420}}


def test_a_pods_tokens_are_found_in_its_volumes() -> None:
    pod = pod_with(
        metadata={"uid": "u-1"},
        serviceAccountName="builder",
        volumes=[projected({}, {"audience": "vault", "expirationSeconds": 600}, {})],
    )

    assert token_keys(pod) == (
        KEY,
        TokenKey("shop", "builder", "vault", 600, ("web-0", "u-1")),
    )


def test_a_pod_that_is_not_on_the_server_binds_no_token() -> None:
    pod = pod_with(serviceAccountName="builder", volumes=[projected({})])

    assert [key.pod for key in token_keys(pod)] == [None]


async def test_a_token_is_asked_for_once_and_bound_to_the_pod() -> None:
    _, desk, tokens = desk_and_tokens()
    key = TokenKey("shop", "builder", "vault", 600, ("web-0", "u-1"))

    answers = [await tokens.get(KEY), await tokens.get(KEY), await tokens.get(key)]

    assert answers == ["token 1", "token 1", "token 2"]
    assert desk.asked == [
        ("builder", "shop", (), HOUR, ("web-0", "u-1")),
        ("builder", "shop", ("vault",), 600, ("web-0", "u-1")),
    ]


async def test_two_who_ask_at_once_share_a_request() -> None:
    _, desk, tokens = desk_and_tokens()

    answers = await asyncio.gather(tokens.get(KEY), tokens.get(KEY))

    assert (list(answers), len(desk.asked)) == (["token 1", "token 1"], 1)


@pytest.mark.parametrize(
    ("life", "chance", "renewed_after"),
    [(HOUR, 0.0, HOUR * 0.8), (HOUR, 1.0, HOUR * 0.8 - 10), (10 * DAY, 0.0, DAY)],
)
async def test_a_token_is_renewed_before_it_ends(
    life: int, chance: float, renewed_after: float
) -> None:
    clock, desk, tokens = desk_and_tokens(chance)
    key = TokenKey("shop", "builder", "", life, None)
    await tokens.get(key)
    due = tokens.due_in([key])
    clock.advance(renewed_after - 1)
    before = await tokens.get(key)
    clock.advance(1)

    assert (before, await tokens.get(key)) == ("token 1", "token 2")
    assert due == pytest.approx(renewed_after)
    assert len(desk.asked) == 2


async def test_a_token_with_a_longer_life_than_asked_for_is_renewed_by_its_real_end() -> None:
    clock, desk, tokens = desk_and_tokens()
    desk.life = lambda seconds: 10 * HOUR
    await tokens.get(KEY)

    assert tokens.due_in([KEY]) == pytest.approx(8 * HOUR)
    assert clock.monotonic() == 0


async def test_a_token_with_a_shorter_life_than_asked_for_is_renewed_by_its_real_end() -> None:
    _, desk, tokens = desk_and_tokens()
    desk.life = lambda _: HOUR
    year = TokenKey("shop", "builder", "", 365 * DAY, ("web-0", "u-1"))

    await tokens.get(year)

    assert tokens.due_in([year]) == 0.8 * HOUR


@pytest.mark.parametrize("life", [5, -HOUR])
async def test_a_token_that_is_old_when_it_comes_is_not_renewed_at_once(life: float) -> None:
    _, desk, tokens = desk_and_tokens(chance=1.0)
    desk.life = lambda _: life  # or so it seems to a machine whose clock is fast

    await tokens.get(KEY)

    assert tokens.due_in([KEY]) == RETRY


async def test_while_it_cannot_be_renewed_the_old_token_is_good_until_it_ends() -> None:
    clock, desk, tokens = desk_and_tokens()
    await tokens.get(KEY)
    desk.failure = ConnectionRefused("nobody is there")
    clock.advance(HOUR * 0.9)
    late = await tokens.get(KEY)
    due = tokens.due_in([KEY])
    clock.advance(HOUR * 0.2)
    ended = await tokens.get(KEY)
    desk.failure = None

    assert (late, due) == ("token 1", RETRY)
    assert isinstance(ended, RefletError)
    assert str(ended) == (
        "token shop/builder//3600/web-0 expired and refresh failed: nobody is there"
    )
    assert await tokens.get(KEY) == f"token {len(desk.asked)}"


async def test_a_failing_server_is_not_asked_again_at_once() -> None:
    clock, desk, tokens = desk_and_tokens()
    await tokens.get(KEY)
    desk.failure = ConnectionRefused("nobody is there")
    clock.advance(HOUR * 0.9)
    for _ in range(3):
        await tokens.get(KEY)
    few = len(desk.asked)
    clock.advance(RETRY)
    await tokens.get(KEY)

    assert (few, len(desk.asked)) == (2, 3)


async def test_the_first_token_that_cannot_be_had_is_an_error() -> None:
    _, desk, tokens = desk_and_tokens()
    desk.failure = ConnectionRefused("nobody is there")

    answer = await tokens.get(KEY)

    assert isinstance(answer, RefletError)
    assert str(answer) == "failed to fetch token: nobody is there"
    assert tokens.due_in([KEY]) == RETRY


async def test_tokens_of_a_pod_that_is_gone_are_dropped() -> None:
    _, desk, tokens = desk_and_tokens()
    await tokens.get(KEY)
    tokens.forget("u-2")
    await tokens.get(KEY)
    tokens.forget("u-1")

    assert await tokens.get(KEY) == "token 2"
    assert len(desk.asked) == 2


async def test_tokens_are_shown_nowhere() -> None:
    _, _, tokens = desk_and_tokens()
    await tokens.get(KEY)

    assert "token 1" not in f"{tokens!r} {tokens._kept!r} {KEY} {KEY!r}"


def test_a_pod_without_tokens_is_never_due() -> None:
    assert desk_and_tokens()[2].due_in([]) is None
