"""Downloads: once for each version, again while they fail, and nothing secret in the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from reflet.errors import ConnectionRefused
from reflet.runtime.clock import SystemClock
from reflet.runtime.metrics import MemoryMetrics
from reflet.runtime.permanent_tasks import NO_THREAD
from reflet.runtime.tasks import TaskOwner
from reflet.sidecar.downloads import FIRST_PAUSE, Downloads, Fetched, retry_policy
from reflet.sidecar.targets import Download
from reflet.transport.http.web_client import RetriesExceeded, WebAnswer
from tests.canaries import canary
from tests.unit.sidecar.scenes import A, B, ScriptedWeb, settings

pytestmark = pytest.mark.virtual_time

WANTED = {"/out/d": Download("http://web/d?token=x", as_text=True)}


def page(body: bytes, status: int = 200) -> WebAnswer:
    return WebAnswer(status, "OK" if status == 200 else "Oops", {}, body)


@asynccontextmanager
async def downloads(web: ScriptedWeb, **variables: str) -> AsyncIterator[Downloads]:
    async with TaskOwner("test") as tasks:
        yield Downloads(
            settings(**variables),
            web,
            tasks,
            lambda: (b"user", b"hunter2"),
            clock=SystemClock(),
            metrics=MemoryMetrics(),
        )


async def test_what_is_wanted_is_fetched_once() -> None:
    web = ScriptedWeb(page(b"text"))
    came: list[Fetched] = []
    async with downloads(web) as made:
        made.fetch(A, WANTED, came.append)
        assert made.pending == {A}
        await asyncio.sleep(3600)

        assert (came, made.pending) == ([{"/out/d": "text"}], set())
    assert len(web.asked) == 1
    assert web.asked[0][1].login == (b"user", b"hunter2")


async def test_bytes_stay_bytes() -> None:
    web = ScriptedWeb(page(b"\xff"))
    came: list[Fetched] = []
    async with downloads(web) as made:
        made.fetch(A, {"/out/d": Download("http://web/d", as_text=False)}, came.append)
        await asyncio.sleep(1)

    assert came == [{"/out/d": b"\xff"}]


async def test_what_fails_is_told_and_tried_again_until_it_comes() -> None:
    web = ScriptedWeb(ConnectionRefused("away"), page(b"", 404), page(b"at last"))
    came: list[Fetched] = []
    async with downloads(web) as made:
        made.fetch(A, WANTED, came.append)
        await asyncio.sleep(1)
        assert made.pending == set()  # nobody waits for it
        await asyncio.sleep(3600)

    assert came == [{"/out/d": None}, {"/out/d": None}, {"/out/d": "at last"}]
    assert web.times[1] >= FIRST_PAUSE


async def test_what_a_machine_without_threads_could_not_fetch_is_tried_again_too() -> None:
    web = ScriptedWeb(RuntimeError(NO_THREAD), page(b"at last"))
    came: list[Fetched] = []
    async with downloads(web) as made:
        made.fetch(A, WANTED, came.append)
        await asyncio.sleep(1)
        assert made.pending == set()  # METHOD=LIST waits for it
        await asyncio.sleep(3600)

    assert came == [{"/out/d": None}, {"/out/d": "at last"}]


async def test_only_what_failed_is_asked_for_again() -> None:
    web = ScriptedWeb(page(b"1"), ConnectionRefused("away"), page(b"2"))
    came: list[Fetched] = []
    async with downloads(web) as made:
        wanted: Mapping[str, Download] = {
            **WANTED,
            "/out/e": Download("http://web/e", as_text=True),
        }
        made.fetch(A, wanted, came.append)
        await asyncio.sleep(3600)

    assert came[-1] == {"/out/d": "1", "/out/e": "2"}
    assert len(web.asked) == 3


async def test_a_newer_version_takes_the_place_of_an_older_one() -> None:
    web = ScriptedWeb(ConnectionRefused("away"), page(b"new"))
    old: list[Fetched] = []
    new: list[Fetched] = []
    async with downloads(web) as made:
        made.fetch(A, WANTED, old.append)
        await asyncio.sleep(1)
        made.fetch(A, WANTED, new.append)
        await asyncio.sleep(3600)

    assert (len(old), new) == (1, [{"/out/d": "new"}])


async def test_what_nobody_wants_any_more_is_not_fetched() -> None:
    web = ScriptedWeb(ConnectionRefused("away"))
    async with downloads(web) as made:
        made.fetch(A, WANTED, lambda _: None)
        made.forget(A)
        made.fetch(B, {}, lambda _: None)
        await asyncio.sleep(3600)

        assert made.pending == set()
    assert web.asked == []


async def test_a_refresh_fetches_again_and_again() -> None:
    web = ScriptedWeb(page(b"text"))
    async with downloads(web, URL_REFRESH_INTERVAL="60") as made:
        made.fetch(A, WANTED, lambda _: None)
        await asyncio.sleep(185)

    assert web.times == [0.0, 60.0, 120.0, 180.0]


@pytest.mark.parametrize(("enabled", "content"), [("true", "body"), ("1", None), ("", None)])
async def test_the_body_of_a_server_error_is_written_where_that_is_asked_for(
    enabled: str, content: str | None
) -> None:
    came: list[Fetched] = []
    async with downloads(ScriptedWeb(page(b"body", 503)), ENABLE_5XX=enabled) as made:
        made.fetch(A, WANTED, came.append)
        await asyncio.sleep(1)

    assert came == [{"/out/d": content}]
    assert (503 in retry_policy(settings(ENABLE_5XX=enabled)).statuses) == (content is None)


async def test_a_failure_is_said_in_the_originals_words_without_the_query(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with downloads(ScriptedWeb(RetriesExceeded("http://web", 500))) as made:
        made.fetch(A, WANTED, lambda _: None)
        await asyncio.sleep(1)

    assert "Max retries exceeded for URL http://web/d: " in caplog.text
    assert "token" not in caplog.text


async def test_a_refusal_is_shown_for_debugging_without_our_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    async with downloads(ScriptedWeb(page(b"no: user:hunter2", 401))) as made:
        made.fetch(A, WANTED, lambda _: None)
        await asyncio.sleep(1)

    assert "http://web/d answered: no: ‹hidden›:‹hidden›" in caplog.text


async def test_nothing_of_a_secrets_address_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    host = canary("sidecar-url-host").lower()
    wanted = {"/out/d": Download(f"http://{host}/d", as_text=False, is_secret=True)}
    answers = (RetriesExceeded(f"http://{host}", 500), ConnectionRefused(host), page(b"x", 404))
    async with downloads(ScriptedWeb(*answers)) as made:
        made.fetch(A, wanted, lambda _: None)
        await asyncio.sleep(3600)

    assert host not in caplog.text
    assert "Max retries exceeded for URL of configmap n/a" in caplog.text
