"""The reload: script, signal, request; in the background, again and again, until answered."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reflet.errors import ConnectionRefused
from reflet.runtime.clock import SystemClock
from reflet.runtime.metrics import MemoryMetrics
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner
from reflet.sidecar import reload
from reflet.sidecar.owed_reloads import ReloadCall
from reflet.sidecar.reload import FIRST_PAUSE, Reloader
from reflet.sidecar.scripts import ScriptEnd
from reflet.transport.http.web_client import WebAnswer
from tests.canaries import canary
from tests.unit.sidecar.scenes import GOOD, ScriptedWeb, settings


def reloader(web: ScriptedWeb, **variables: str) -> Reloader:
    return Reloader(
        settings(REQ_URL="http://app/reload?token=x", **variables),
        web,
        lambda: None,
        clock=SystemClock(),
        metrics=MemoryMetrics(),
    )


@contextmanager
def running(made: Reloader) -> Iterator[None]:
    task = asyncio.create_task(made.run())
    try:
        yield
    finally:
        task.cancel()


@pytest.mark.virtual_time
async def test_changes_within_the_debounce_are_one_request() -> None:
    web = ScriptedWeb()
    made = reloader(web)
    with running(made):
        for _ in range(10):
            made.owe()
            await asyncio.sleep(0.1)
        await asyncio.sleep(10)

    assert len(web.asked) == 1
    assert made.is_at_rest


@pytest.mark.virtual_time
async def test_without_debounce_each_change_is_a_request() -> None:
    web = ScriptedWeb()
    made = reloader(web, RELOAD_DEBOUNCE="0")
    with running(made):
        for _ in range(10):
            made.owe()
        await asyncio.sleep(10)

    assert len(web.asked) == 10


@pytest.mark.virtual_time
async def test_an_application_that_is_away_is_asked_until_it_answers() -> None:
    refused = ConnectionRefused("http://app: connection refused")
    web = ScriptedWeb(refused, refused, refused, GOOD)
    made = reloader(web)
    with running(made):
        made.owe(is_initial=True)
        await asyncio.sleep(1)
        assert made.problem == "REQ_URL: http://app: connection refused"
        assert made.is_at_rest  # files and readiness do not wait for this
        await asyncio.sleep(600)

    assert len(web.asked) == 4
    assert web.times[1] - web.times[0] >= FIRST_PAUSE
    assert web.times[2] - web.times[1] >= 2 * FIRST_PAUSE
    assert made.problem is None


@pytest.mark.virtual_time
@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_refusal_is_not_asked_for_again(status: int) -> None:
    web = ScriptedWeb(WebAnswer(status, "No", {}, b""))
    made = reloader(web)
    with running(made):
        made.owe()
        await asyncio.sleep(3600)

    assert len(web.asked) == 1
    assert made.problem == f"REQ_URL: {status} No"


@pytest.mark.virtual_time
async def test_a_later_change_takes_the_place_of_what_was_not_answered() -> None:
    web = ScriptedWeb(ConnectionRefused("away"), GOOD)
    web.paused = [120.0]  # within one series of tries
    made = reloader(web)
    with running(made):
        made.owe()
        await asyncio.sleep(5)
        made.owe()
        await asyncio.sleep(10)

    assert web.times == [0.5, 5.5]
    assert made.problem is None


@pytest.mark.virtual_time
async def test_a_reload_that_the_machine_had_no_room_for_is_made_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = [OSError(errno.EMFILE, "Too many open files")]
    web = ScriptedWeb()
    made = reloader(web, SCRIPT="/script")

    async def run_or_fail(path: str, **_: object) -> ScriptEnd:
        if failures:
            raise failures.pop()
        return ScriptEnd((path,), 0, b"", b"")

    monkeypatch.setattr(reload, "run_script", run_or_fail)
    async with TaskOwner("test") as tasks:
        PermanentTasks().keep(tasks, made.run, name="reload")
        made.owe()
        await asyncio.sleep(60)

    assert len(web.asked) == 1
    assert made.is_at_rest


@pytest.mark.virtual_time
async def test_the_first_files_can_go_without_a_request() -> None:
    web = ScriptedWeb()
    made = reloader(web, REQ_SKIP_INIT="True")
    with running(made):
        made.owe(is_initial=True)
        await asyncio.sleep(10)
        assert web.asked == []
        made.owe()
        await asyncio.sleep(10)

    assert len(web.asked) == 1


@pytest.mark.virtual_time
async def test_a_method_that_is_none_sends_nothing_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    web = ScriptedWeb()
    await reloader(web, REQ_METHOD="PUT").reload(ReloadCall())

    assert web.asked == []
    assert "Invalid REQ_METHOD: 'PUT', please use 'GET' or 'POST'" in caplog.text


async def test_a_post_sends_the_payload_and_a_get_does_not() -> None:
    web = ScriptedWeb()
    await reloader(web, REQ_METHOD="post", REQ_PAYLOAD='{"a": 1}').reload(ReloadCall())
    await reloader(web, REQ_METHOD="GET", REQ_PAYLOAD='{"a": 1}').reload(ReloadCall())

    (_, post), (_, get) = web.asked
    assert (post.method, post.body, post.content_type) == ("POST", b'{"a": 1}', "application/json")
    assert (get.method, get.body, get.content_type) == ("GET", None, "")


async def test_neither_payload_nor_query_nor_body_reach_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    said = canary("sidecar-answer")
    web = ScriptedWeb(WebAnswer(200, "OK", {}, said.encode()))
    made = reloader(web, REQ_METHOD="POST", REQ_PAYLOAD=canary("sidecar-payload"))

    await made.reload(ReloadCall())

    assert "Request sent to http://app/reload. Response: 200 OK" in caplog.text
    assert "token" not in caplog.text


async def test_the_script_comes_before_the_request_and_its_failure_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    path = tmp_path / "script"
    path.write_text("#!/bin/sh\necho Hello\nexit 3\n")
    path.chmod(0o755)
    web = ScriptedWeb()
    made = reloader(web, SCRIPT=str(path))

    await made.reload(ReloadCall())

    assert len(web.asked) == 1
    assert made.problem == "SCRIPT ended with 3"
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == f"Executing script from {path}"
    assert "Script stdout: b'Hello\\n'" in lines
    assert f"Command '['{path}']' returned non-zero exit status 3." in caplog.text
    assert lines[-1].startswith("Request sent to")


async def test_a_process_that_is_not_there_is_no_problem(caplog: pytest.LogCaptureFixture) -> None:
    made = reloader(ScriptedWeb(), RELOAD_SIGNAL="HUP", RELOAD_PROCESS="no-such-program")

    await made.reload(ReloadCall())

    assert made.problem is None
    assert "SIGHUP is not sent: there is no process no-such-program" in caplog.text
