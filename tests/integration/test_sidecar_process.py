"""The sidecar as containers run it: any user, no home, a root that is read-only, signals."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.sidecar_process import sidecar_process, until
from tests.sidecar_scenes import SidecarScene, config_map
from tests.sidecar_surroundings import WebTarget

GRAFANA: Final = 472

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def target() -> Iterator[WebTarget]:
    with WebTarget() as running:
        yield running


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that other users may enter, unlike those of a test run."""
    folder = Path(tempfile.mkdtemp(prefix="sidecar-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def environ(server: RunningServer, work: Path, port: int) -> dict[str, str]:
    kubeconfig = work / "kubeconfig"
    kubeconfig.write_bytes(server.kubeconfig.read_bytes())
    kubeconfig.chmod(0o644)
    return {
        "LABEL": "findme",
        "FOLDER": str(work / "folder"),
        "NAMESPACE": "default",
        "KUBECONFIG": str(kubeconfig),
        "HEALTH_PORT": str(port),
    }


def healthz(port: int) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def holds(work: Path, name: str, text: str) -> bool:
    path = work / "folder" / name
    return path.is_file() and path.read_text() == text


@as_root
def test_any_user_without_a_home_keeps_a_folder_of_a_shared_group(
    server: RunningServer, target: WebTarget, work: Path, environ: dict[str, str]
) -> None:
    scene = SidecarScene(server, target, work, {})
    scene.put(config_map("a", {"f": "1"}))
    (work / "folder").mkdir()
    os.chown(work / "folder", 0, GRAFANA)
    (work / "folder").chmod(0o2775)
    environ["DEFAULT_FILE_MODE"] = "440"

    with sidecar_process(environ, work / "log", uid=GRAFANA):
        assert until(lambda: holds(work, "f", "1")), (work / "log").read_text()
        scene.put(config_map("a", {"f": "2"}))
        assert until(lambda: holds(work, "f", "2")), (work / "log").read_text()

    found = (work / "folder/f").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (GRAFANA, GRAFANA, 0o440)


@as_root
def test_a_folder_that_may_not_be_written_is_said_and_not_called_ready(
    server: RunningServer, target: WebTarget, work: Path, environ: dict[str, str], port: int
) -> None:
    SidecarScene(server, target, work, {}).put(config_map("a", {"f": "1"}))
    (work / "folder").mkdir()

    with sidecar_process(environ, work / "log", uid=GRAFANA) as process:
        assert until(lambda: "Permission denied" in (work / "log").read_text(), process)
        assert healthz(port) == (503, "NOT READY")
        (work / "folder").chmod(0o777)
        assert until(lambda: healthz(port) == (200, "OK"), process)


@as_root
def test_nothing_but_the_folder_need_be_writable(
    server: RunningServer, target: WebTarget, work: Path, environ: dict[str, str]
) -> None:
    SidecarScene(server, target, work, {}).put(config_map("a", {"f": "1"}))
    (work / "folder").mkdir()
    inner = (
        "mount --make-rprivate / && mount -o remount,bind,ro / && "
        # On many systems this is a file system of its own.
        "mount --bind $TMPDIR $TMPDIR && mount -o remount,bind,ro $TMPDIR && "
        "mount -t tmpfs none $FOLDER && "
        '! touch $TMPDIR/writable 2>/dev/null && "$@"; cp -r $FOLDER/. /dev/shm/$COPY/'
    )
    copy = Path("/dev/shm") / work.name
    tried = subprocess.run(
        ["unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -o remount,bind,ro /"],
        capture_output=True,
        check=False,
    )
    if tried.returncode or not os.access("/dev/shm", os.W_OK):
        pytest.skip(f"no mount namespace here: {tried.stderr.decode().strip()}")
    copy.mkdir()
    try:
        ended = subprocess.run(
            ["unshare", "-m", "sh", "-c", inner, "sh", sys.executable, "-m", "reflet", "sidecar"],
            env={"PATH": os.environ["PATH"], "TMPDIR": str(work.parent), **environ}
            | {"METHOD": "LIST", "COPY": work.name},
            capture_output=True,
            check=False,
            timeout=50,
        )
        assert (copy / "f").read_text() == "1", ended.stderr.decode()
    finally:
        shutil.rmtree(copy)


def test_a_sidecar_ends_well_when_it_is_told_to_and_asks_nobody(
    server: RunningServer, target: WebTarget, work: Path, environ: dict[str, str], port: int
) -> None:
    SidecarScene(server, target, work, {}).put(config_map("a", {"f": "1"}))
    environ["REQ_URL"] = "http://127.0.0.1:9/nobody"  # which it would try for long
    with sidecar_process(environ, work / "log") as process:
        assert until(lambda: healthz(port) == (200, "OK"), process), (work / "log").read_text()
        process.send_signal(signal.SIGTERM)
        process.wait(10)

    assert process.returncode == 0
    assert target.log == []


def test_a_taken_port_is_one_warning(
    server: RunningServer, target: WebTarget, work: Path, environ: dict[str, str], port: int
) -> None:
    SidecarScene(server, target, work, {}).put(config_map("a", {"f": "1"}))
    with (
        socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True),
        sidecar_process(environ, work / "log") as process,
    ):
        assert until(lambda: holds(work, "f", "1"), process)

    warnings = [line for line in (work / "log").read_text().splitlines() if "WARNING" in line]
    assert len(warnings) == 1
    assert "health is not served" in warnings[0]


def test_a_container_outside_of_a_cluster_says_what_is_missing(
    work: Path, environ: dict[str, str]
) -> None:
    environ["KUBECONFIG"] = "/no/such/file"
    with sidecar_process(environ, work / "log") as process:
        process.wait(20)

    assert process.returncode == 2
    [line] = (work / "log").read_text().splitlines()
    assert "no cluster is configured" in line
