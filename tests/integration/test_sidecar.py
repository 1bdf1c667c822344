"""The sidecar with a server: how it starts, what it reloads, and what it is asked for."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError, Forbidden, InternalError, TransportError
from reflet.sidecar import sidecar as sidecar_module
from reflet.sidecar.files.publishing import Published
from reflet.sidecar.sidecar import FilesUnwritten
from reflet.testing.pytest_plugin import RunningServer
from tests.sidecar_scenes import SidecarScene, config_map, runs_of, script, secret
from tests.sidecar_surroundings import WebTarget

EVER = 10**6
SECRETS_REFUSED = {"match": ["/secrets"], "status": 403, "times": EVER}


@pytest.fixture
def target() -> Iterator[WebTarget]:
    with WebTarget() as running:
        yield running


class Play:
    """Makes scenes for one test."""

    def __init__(self, server: RunningServer, target: WebTarget, work: Path) -> None:
        self._server, self.target, self.work = server, target, work

    def __call__(self, **environ: str) -> SidecarScene:
        return SidecarScene(self._server, self.target, self.work / "root", environ)


@pytest.fixture
def play(server: RunningServer, target: WebTarget, tmp_path: Path) -> Play:
    (tmp_path / "root").mkdir()
    return Play(server, target, tmp_path)


# The start


async def test_the_first_reload_comes_once_after_the_files_of_all_kinds(play: Play) -> None:
    seen = play.work / "seen"
    text = f"#!/bin/sh\nls {play.work}/root/folder | sort | tr '\\n' ' ' >> {seen}\n"
    with script(play.work, text) as path:
        scene = play(RESOURCE="both", SCRIPT=str(path), REQ_URL=f"{play.target.url}/reload")
        scene.put(config_map("a", {"from-map": "1"}), secret("a", {"from-secret": b"1"}))
        async with scene.running() as task:
            await scene.rest(task)

    assert seen.read_text() == "from-map from-secret "
    assert len(play.target.log) == 1


async def test_a_kind_that_may_not_be_read_holds_up_nothing_but_readiness(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    scene = play(RESOURCE="both", REQ_URL=f"{play.target.url}/reload")
    scene.put(config_map("a", {"f": "1"}), secret("s", {"g": b"1"}))
    fault = dict(SECRETS_REFUSED)
    async with scene.running([fault]) as task:
        await scene.until(task, lambda: len(play.target.log) == 1)
        assert scene.files() == {"f": "1"}
        assert await scene.healthz() == (503, "NOT READY")
        lines = [each for each in caplog.messages if "secrets in default cannot be read" in each]
        assert len(lines) == 1
        assert lines[0].endswith("it takes the right to list, watch")
        assert scene.faults is not None
        scene.faults.faults.clear()
        await scene.rest(task)

        assert scene.files() == {"f": "1", "g": "1"}
        assert await scene.healthz() == (200, "OK")


async def test_when_nothing_may_be_read_it_ends_at_once(play: Play) -> None:
    scene = play(RESOURCE="both")
    everything = {"match": ["/api/v1"], "status": 403, "times": EVER}
    async with scene.running([everything]) as task:
        with pytest.raises(Forbidden):
            await task


async def test_a_server_that_fails_at_the_start_gets_a_few_seconds(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = play(ERROR_THROTTLE_SLEEP="1")
    scene.put(config_map("a", {"f": "1"}))
    fault = {"match": ["configmaps"], "status": 500, "times": 4, "reason": "InternalError"}
    with monkeypatch.context() as patient:
        patient.setattr(sidecar_module, "PATIENCE", 600.0)  # no machine is too slow for that
        async with scene.running([fault]) as task:
            await scene.rest(task)
            assert scene.files() == {"f": "1"}
    async with scene.running([{**fault, "times": EVER}]) as task:
        with pytest.raises(InternalError):
            await task


async def test_a_server_that_is_away_at_the_start_gets_the_time_of_all_retries(play: Play) -> None:
    scene = play()
    async with scene.running() as task:
        assert scene.faults is not None
        scene.faults.is_refusing = True
        began = scene.clock.monotonic()
        with pytest.raises(TransportError):
            await task

    assert scene.clock.monotonic() - began >= 33


async def test_a_server_that_is_away_at_the_start_and_comes_back_is_served(play: Play) -> None:
    scene = play(REQ_RETRY_BACKOFF_FACTOR="20")  # ten minutes, so that no machine is too slow
    scene.put(config_map("a", {"f": "1"}))
    async with scene.running() as task:
        assert scene.faults is not None
        scene.faults.is_refusing = True
        await scene.clock.sleep(5)
        assert await scene.healthz() == (503, "NOT READY")
        scene.faults.is_refusing = False
        await scene.rest(task)

        assert scene.files() == {"f": "1"}


async def test_an_application_that_is_away_keeps_nobody_from_being_ready(play: Play) -> None:
    scene = play(REQ_URL="http://127.0.0.1:9/nobody")
    scene.put(config_map("a", {"f": "1"}))
    async with scene.running() as task:
        await scene.until(task, lambda: scene.files() == {"f": "1"})
        await scene.until(task, lambda: scene.sidecar is not None and scene.sidecar._is_started)

        assert await scene.healthz() == (200, "OK")


async def test_a_download_that_takes_for_ever_holds_up_readiness_for_half_a_minute(
    play: Play,
) -> None:
    with_nobody = "http://127.0.0.1:9/nobody"
    scene = play(REQ_RETRY_TOTAL="50", REQ_RETRY_CONNECT="50", REQ_RETRY_BACKOFF_FACTOR="60")
    scene.put(config_map("a", {"d.url": with_nobody}), config_map("b", {"f": "1"}))
    began = scene.clock.monotonic()
    async with scene.running() as task:
        await scene.until(task, lambda: scene.sidecar is not None and scene.sidecar._is_started)

        assert scene.clock.monotonic() - began >= 30
        assert scene.files() == {"f": "1"}
        assert await scene.healthz() == (200, "OK")


@pytest.mark.parametrize("method", ["WATCH", "LIST"])
async def test_credentials_that_cannot_be_encoded_end_it_after_the_first_files(
    play: Play, method: str
) -> None:
    scene = play(
        METHOD=method,
        REQ_URL=f"{play.target.url}/reload",
        REQ_USERNAME="u",
        REQ_PASSWORD="p",
        REQ_BASIC_AUTH_ENCODING="klingon",
    )
    scene.put(config_map("a", {"f": "1"}))
    async with scene.running() as task:
        with pytest.raises(ConfigurationError, match="REQ_BASIC_AUTH_ENCODING: klingon cannot"):
            await task

    assert scene.files() == {"f": "1"}


# Once


async def test_list_writes_what_it_can_and_says_what_it_could_not(play: Play) -> None:
    scene = play(METHOD="LIST", RESOURCE="both")
    scene.put(config_map("a", {"f": "1"}), secret("s", {"g": b"1"}))
    async with scene.running([dict(SECRETS_REFUSED)]) as task:
        with pytest.raises(Forbidden):
            await task

    assert scene.files() == {"f": "1"}


async def test_list_fails_when_a_file_is_not_written(play: Play) -> None:
    scene = play(METHOD="LIST")
    (scene.folder / "f").mkdir(parents=True)
    scene.put(config_map("a", {"f": "1", "g": "1"}))
    async with scene.running() as task:
        with pytest.raises(FilesUnwritten, match=r"1 file is not written: .*/f: Is a directory"):
            await task

    assert scene.files() == {"g": "1"}


async def test_list_asks_the_url_though_others_would_skip_it(play: Play) -> None:
    scene = play(METHOD="LIST", REQ_SKIP_INIT="true", REQ_URL=f"{play.target.url}/reload")
    scene.put(config_map("a", {"f": "1"}))
    async with scene.running() as task:
        await task

    assert len(play.target.log) == 1


async def test_what_list_has_written_a_watch_takes_over(play: Play) -> None:
    once = play(METHOD="LIST")
    once.put(config_map("a", {"f": "1"}), config_map("b", {"g": "1"}))
    async with once.running() as task:
        await task
    scene = play(REQ_URL=f"{play.target.url}/reload")
    scene.delete(config_map("a"))
    async with scene.running() as task:
        await scene.rest(task)

        assert scene.files() == {"g": "1"}
        assert len(play.target.log) == 1


# Owners


@pytest.mark.parametrize("order", ["ab", "ba"])
async def test_of_two_objects_with_one_file_the_last_by_name_has_it(play: Play, order: str) -> None:
    scene = play()
    async with scene.running() as task:
        await scene.rest(task)
        for name in order:
            scene.put(config_map(name, {"f": f"from {name}"}))
            await scene.rest(task)
        assert scene.files() == {"f": "from b"}
        scene.delete(config_map("b"))
        await scene.rest(task)

        assert scene.files() == {"f": "from a"}


async def test_two_sidecars_with_one_folder_leave_each_others_files_alone(play: Play) -> None:
    scene, other = play(), play(LABEL="other")
    scene.put(config_map("a", {"f": "1"}))
    theirs = config_map("b", {"g": "1"})
    theirs["metadata"]["labels"] = {"other": "yes"}
    other.put(theirs)
    for each in (scene, other, scene):
        async with each.running() as task:
            await each.rest(task)

    assert scene.files() == {"f": "1", "g": "1"}


# Reloads


async def test_many_changes_are_one_reload(play: Play) -> None:
    with script(play.work) as path:
        scene = play(SCRIPT=str(path), RELOAD_DEBOUNCE="5")
        async with scene.running() as task:
            await scene.rest(task)
            scene.put(*(config_map(f"m{number}", {f"f{number}": "1"}) for number in range(12)))
            await scene.rest(task)

            assert len(scene.files()) == 12
    assert 1 <= runs_of(play.work) <= 3


async def test_without_debounce_each_object_is_a_reload(play: Play) -> None:
    with script(play.work) as path:
        scene = play(SCRIPT=str(path), RELOAD_DEBOUNCE="0")
        async with scene.running() as task:
            await scene.rest(task)
            scene.put(*(config_map(f"m{number}", {f"f{number}": "1"}) for number in range(12)))
            await scene.rest(task)

    assert runs_of(play.work) == 12


async def test_a_process_gets_a_signal(play: Play) -> None:
    name = f"app-{os.getpid()}"
    program = play.work / name
    program.symlink_to("/bin/sleep")
    process = await asyncio.create_subprocess_exec(program, "300")
    try:
        scene = play(RELOAD_SIGNAL="USR1", RELOAD_PROCESS=name)
        scene.put(config_map("a", {"f": "1"}))
        async with scene.running() as task:
            await scene.rest(task)
            code = await asyncio.wait_for(process.wait(), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert code == -signal.SIGUSR1


# Folders


async def test_a_folder_outside_of_the_jail_is_refused_and_said(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    scene = play(ALLOWED_FOLDERS=f"{play.work}/root/allowed")
    scene.put(
        config_map("a", {"f": "1"}, folder="../climbed"),
        config_map("b", {"g": "1"}, folder=f"{play.work}/root/allowed/deep"),
    )
    async with scene.running() as task:
        await scene.rest(task)

        assert scene.files() == {"allowed/deep/g": "1"}
    assert "configmap default/a: 'f' makes no file: " in caplog.text


async def test_links_show_the_files_of_one_moment(play: Play) -> None:
    scene = play(LAYOUT="links")
    scene.put(config_map("a", {"f": "1", "g": "1"}))
    async with scene.running() as task:
        await scene.rest(task)
        scene.put(config_map("a", {"f": "2", "h": "2"}))
        await scene.rest(task)

    assert sorted(path.name for path in scene.folder.glob("[!.]*")) == ["f", "h"]
    assert (scene.folder / "..data/f").read_text() == "2"
    assert (scene.folder / "f").readlink() == Path("..data/f")


# Trouble of the machine


async def test_what_a_machine_without_threads_could_not_do_is_done_later(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = play()
    async with scene.running() as task:
        await scene.rest(task)
        assert scene.sidecar is not None
        publish = scene.sidecar._publisher.publish
        refusals = [RuntimeError("can't start new thread")]

        def refuse_once(paths: Collection[str]) -> Published:
            if refusals:
                raise refusals.pop()
            return publish(paths)

        monkeypatch.setattr(scene.sidecar._publisher, "publish", refuse_once)
        scene.put(config_map("a", {"f": "1"}))
        await scene.until(task, lambda: scene.files() == {"f": "1"})

    assert scene.files() == {"f": "1"}
    assert not refusals


async def test_what_cannot_be_written_is_tried_again_though_others_keep_changing(
    play: Play,
) -> None:
    scene = play()
    (scene.folder / "f").mkdir(parents=True)
    scene.put(config_map("a", {"f": "1"}))
    async with scene.running() as task:
        await scene.rest(task)
        (scene.folder / "f").rmdir()
        for number in range(200):
            scene.put(config_map("b", {"g": str(number)}))
            await scene.clock.sleep(1)
            if "f" in scene.files():
                break

        assert scene.files()["f"] == "1"
