"""What kiwigrid/k8s-sidecar does wrong, and ours never repeats: a test for each."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.cli.main import run
from reflet.sidecar import sidecar as sidecar_module
from reflet.testing.pytest_plugin import RunningServer
from tests.canaries import canary
from tests.sidecar_scenes import SidecarScene, config_map, runs_of, script, secret
from tests.sidecar_surroundings import WebTarget


@pytest.fixture
def target() -> Iterator[WebTarget]:
    with WebTarget() as running:
        yield running


def scene(server: RunningServer, target: WebTarget, root: Path, **environ: str) -> SidecarScene:
    return SidecarScene(server, target, root, environ)


async def test_no_replay_when_a_watch_ends(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, WATCH_SERVER_TIMEOUT="1", RESYNC_INTERVAL="0")
    played.put(config_map("a", {"f": "1"}))
    async with played.running() as task:
        await played.rest(task)
        assert played.faults is not None
        asked = played.faults.requests
        await played.until(task, lambda: sum("watch=true" in each for each in asked) >= 3)

    watches = [each for each in asked if "watch=true" in each]
    assert all("timeoutSeconds=1" in each for each in watches)
    assert all("resourceVersion=" in each for each in watches[1:])  # resumed, not begun anew
    assert [each for each in asked if "watch=true" not in each] == []


async def test_no_deletion_is_lost_in_a_gap(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    played.put(config_map("a", {"f": "1"}), config_map("b", {"g": "1"}))
    async with played.running() as task:
        await played.rest(task)
        assert played.faults is not None
        played.faults.is_refusing = True
        played.faults.cut()
        played.delete(config_map("a"))
        server.call(server.server.requests.all)  # the server is there, and only we are cut off
        played.faults.is_refusing = False
        await played.rest(task)

        assert played.files() == {"g": "1"}


async def test_no_deletion_is_lost_while_down(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    played.put(config_map("a", {"f": "1"}), config_map("b", {"g": "1"}))
    async with played.running() as task:
        await played.rest(task)
    played.delete(config_map("a"))
    async with played.running() as task:
        await played.rest(task)

        assert played.files() == {"g": "1"}


async def test_no_file_is_removed_for_a_kind_that_may_not_be_read(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, RESOURCE="both")
    played.put(config_map("a", {"f": "1"}), secret("s", {"g": b"1"}))
    async with played.running() as task:
        await played.rest(task)
    played.delete(config_map("a"))
    refused = [{"match": ["/secrets"], "status": 403, "times": 999}]
    async with played.running(refused) as task:
        await played.until(task, lambda: played.files() == {"g": "1"})

        assert played.files() == {"g": "1"}
        assert await played.healthz() == (503, "NOT READY")


async def test_no_reader_sees_a_part_of_a_file(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    texts = [letter * 300_000 for letter in "ab"]
    played.put(config_map("a", {"f": texts[0]}))
    seen: set[str] = set()
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.add((tmp_path / "folder/f").read_text())

    async with played.running() as task:
        await played.rest(task)
        reader = threading.Thread(target=read)
        reader.start()
        try:
            for number in range(20):
                played.put(config_map("a", {"f": texts[number % 2]}))
                await played.rest(task)
        finally:
            is_over.set()
            reader.join()

    assert seen <= set(texts)


async def test_no_two_objects_share_a_key(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, NAMESPACE="a,ab", METHOD="SLEEP", SLEEP_TIME="1")
    played.put(*({"kind": "Namespace", "metadata": {"name": each}} for each in ("a", "ab")))
    played.put(config_map("bc", {"one": "1"}, namespace="a"))
    played.put(config_map("c", {"two": "2"}, namespace="ab"))
    async with played.running() as task:
        await played.rest(task)
        for _ in range(5):
            await played.clock.sleep(1)
            assert played.files() == {"one": "1", "two": "2"}


async def test_no_kind_is_ignored_and_nothing_is_listed_that_is_not_named(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, RESOURCE="both", RESOURCE_NAME="default/secret/x")
    played.put(config_map("x", {"cx": "1"}), secret("x", {"sx": b"1"}))
    async with played.running() as task:
        await played.rest(task)

        assert played.files() == {"sx": "1"}
        assert played.faults is not None
        assert all("fieldSelector=metadata.name=x" in each for each in played.faults.requests)
        assert not any("configmaps" in each for each in played.faults.requests)


async def test_a_named_object_needs_no_more_than_the_right_to_get_it(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, RESOURCE_NAME="x", SLEEP_TIME="1")
    played.put(config_map("x", {"f": "1"}))
    refused = [{"match": ["fieldSelector"], "status": 403, "times": 999}]
    async with played.running(refused) as task:
        await played.rest(task)
        played.put(config_map("x", {"f": "2"}))
        await played.rest(task)

        assert played.files() == {"f": "2"}
        assert await played.healthz() == (200, "OK")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"binaryData": {"f": "Ymlu"}}, {"data": {"f": "text"}}),
        ({"data": {"f.url": "{HTTP}/text/x"}}, {"data": {"f": "text"}}),
    ],
    ids=["from bytes to text", "from a download to text"],
)
async def test_no_file_is_lost_when_a_key_moves(
    server: RunningServer,
    target: WebTarget,
    tmp_path: Path,
    before: dict[str, dict[str, str]],
    after: dict[str, dict[str, str]],
) -> None:
    played = scene(server, target, tmp_path)
    filled = {
        kind: {key: value.replace("{HTTP}", target.url) for key, value in each.items()}
        for kind, each in before.items()
    }
    played.put({**config_map("a"), "data": {}, **filled})
    async with played.running() as task:
        await played.rest(task)
        played.put({**config_map("a"), **after})
        await played.rest(task)

        assert played.files() == {"f": "text"}


async def test_no_empty_file_takes_the_place_of_a_good_download(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, REQ_RETRY_TOTAL="1")
    played.put(config_map("a", {"d.url": f"{target.url}/text/good"}))
    async with played.running() as task:
        await played.rest(task)
        played.put(config_map("a", {"d.url": f"{target.url}/500"}))
        await played.rest(task)
        assert played.files() == {"d": "downloaded /text/good"}
    async with played.running() as task:  # nor after a restart
        await played.rest(task)
        assert played.files() == {"d": "downloaded /text/good"}


async def test_a_download_that_failed_comes_when_its_server_does(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, REQ_RETRY_TOTAL="2", REQ_RETRY_BACKOFF_FACTOR="0.1")
    played.put(config_map("a", {"d.url": f"{target.url}/late"}))
    async with played.running() as task:
        await played.rest(task)
        assert played.files() == {"d": ""}
        await played.until(task, lambda: played.files() == {"d": "at last"})


async def test_nothing_is_downloaded_to_be_deleted(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    played.put(config_map("a", {"d.url": f"{target.url}/text/d"}))
    async with played.running() as task:
        await played.rest(task)
        played.delete(config_map("a"))
        await played.rest(task)

        assert played.files() == {}
    assert len(target.log) == 1


async def test_the_clients_timeout_is_not_lost(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, WATCH_CLIENT_TIMEOUT="66")
    async with played.running() as task:
        await played.rest(task)

        assert played.faults is not None
        assert played.faults.silences == {66.0}


async def test_a_server_that_fails_is_borne_and_health_says_so_after_a_while(
    server: RunningServer, target: WebTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar_module, "CONTACT_LOST", 60.0)
    played = scene(server, target, tmp_path, ERROR_THROTTLE_SLEEP="1", SLEEP_TIME="1")
    played.put(config_map("a", {"f": "1"}))
    async with played.running() as task:
        await played.rest(task)
        assert await played.healthz() == (200, "OK")
        assert played.faults is not None
        fault = {"match": ["configmaps"], "status": 500, "times": 10**6, "reason": "InternalError"}
        played.faults.faults.append(fault)
        played.faults.cut()
        played.put(config_map("a", {"f": "2"}))
        assert played.sidecar is not None
        await played.until(task, lambda: any(played.sidecar.facts().lost.values()))  # type: ignore[union-attr]  # it is there
        assert await played.healthz() == (503, "NOT LIVE (K8s contact lost)")
        fault["times"] = 0
        await played.rest(task)

        assert played.files() == {"f": "2"}
        await played.until(task, lambda: not any(played.sidecar.facts().lost.values()))  # type: ignore[union-attr]  # it is there
        assert not task.done()


async def test_a_script_without_a_first_line_ends_nothing(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    with script(tmp_path, f"echo ran >> {tmp_path}/script.log\n") as path:
        played = scene(server, target, tmp_path / "root", SCRIPT=str(path))
        played.put(config_map("a", {"f": "1"}))
        async with played.running() as task:
            await played.rest(task)

            assert runs_of(tmp_path) == 1
            assert not task.done()


async def test_a_script_that_hangs_holds_up_neither_files_nor_health(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    with script(tmp_path, "#!/bin/sh\nexec sleep 300\n") as path:
        played = scene(server, target, tmp_path / "root", SCRIPT=str(path), SCRIPT_TIMEOUT="15")
        played.put(config_map("a", {"f": "1"}))
        async with played.running() as task:
            await played.until(task, lambda: played.files() == {"f": "1"})
            played.put(config_map("a", {"f": "2"}))
            await played.until(task, lambda: played.files() == {"f": "2"})
            assert await played.healthz() == (200, "OK")
            assert played.sidecar is not None
            reloader = played.sidecar._reloader
            await played.until(task, lambda: "was killed after 15 s" in (reloader.problem or ""))


@pytest.mark.parametrize("missing", ["LABEL", "FOLDER"])
def test_what_is_missing_is_a_failure(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("LABEL", "FOLDER"):
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv(missing)

    assert run(["reflet", "sidecar"]) == 2
    assert f"error: {missing} is missing: set it, or give" in capsys.readouterr().err


async def test_a_folder_that_cannot_be_written_is_not_called_ready(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    (tmp_path / "folder").write_text("in the way")
    played.put(config_map("a", {"f": "1"}))
    async with played.running() as task:
        await played.rest(task)
        assert await played.healthz() == (503, "NOT READY")
        (tmp_path / "folder").unlink()
        await played.until(task, lambda: played.files() == {"f": "1"})
        await played.rest(task)

        assert await played.healthz() == (200, "OK")


async def test_a_key_that_cannot_be_a_file_does_not_take_the_application_down(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path)
    (tmp_path / "folder/f").mkdir(parents=True)
    played.put(config_map("a", {"f": "1", "g": "1"}))
    async with played.running() as task:
        await played.rest(task)

        assert played.files() == {"g": "1"}
        assert await played.healthz() == (200, "OK")


async def test_nothing_secret_is_logged(
    server: RunningServer, target: WebTarget, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    password = canary("sidecar-password")
    played = scene(
        server,
        target,
        tmp_path,
        RESOURCE="both",
        REQ_URL=f"{target.url}/404?token={canary('sidecar-token')}",
        REQ_METHOD="POST",
        REQ_PAYLOAD=canary("sidecar-payload"),
        REQ_USERNAME="user",
        REQ_PASSWORD=password,
    )
    url = f"{target.url}/404/{canary('sidecar-url')}"
    played.put(secret("s", {"f": canary("sidecar-secret").encode(), "d.url": url.encode()}))
    async with played.running() as task:
        await played.rest(task)

    assert "Writing" in caplog.text
    assert "CANARY" not in caplog.text


async def test_files_that_somebody_changed_are_repaired(
    server: RunningServer, target: WebTarget, tmp_path: Path
) -> None:
    played = scene(server, target, tmp_path, RESYNC_INTERVAL="2", REQ_URL=f"{target.url}/reload")
    played.put(config_map("a", {"f": "1", "g": "1"}))
    async with played.running() as task:
        await played.rest(task)
        (tmp_path / "folder/f").write_text("edited")
        (tmp_path / "folder/g").unlink()
        await played.until(task, lambda: played.files() == {"f": "1", "g": "1"})
        await played.until(task, lambda: len(target.log) == 2)
        await asyncio.sleep(0)

    assert [each["path"] for each in target.log] == ["/reload", "/reload"]
