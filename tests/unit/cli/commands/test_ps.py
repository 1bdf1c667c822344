"""``reflet ps``: what runs on this machine, as the pod status cache sees it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from reflet.cli.main import run
from reflet.cri.messages.containers import ContainerState
from reflet.errors import RpcError
from tests.cri_scenes import Pods, container, serving
from tests.cri_server import Call

Captured = pytest.CaptureFixture[str]


def ps(path: Path, *arguments: str) -> int:
    return run(["reflet", "ps", "--runtime-endpoint", f"unix://{path}", *arguments])


def some_pods() -> Pods:
    pods = Pods()
    pods.run("web", "job")
    pods.exit("job", code=7)
    return pods


def test_what_runs_is_a_table(tmp_path: Path, capsys: Captured) -> None:
    with serving(tmp_path / "s", **some_pods().answers()):
        assert ps(tmp_path / "s") == 0

    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        "NAMESPACE",
        "POD",
        "CONTAINER",
        "STATE",
        "RESTARTS",
        "AGE",
        "OBSERVED",
    ]
    assert [row.split()[:5] for row in rows] == [["shop", "name-of-web", "web", "Running", "0"]]
    assert rows[0].endswith("ms ago")


def test_what_has_ended_is_shown_when_asked_for(tmp_path: Path, capsys: Captured) -> None:
    with serving(tmp_path / "s", **some_pods().answers()):
        assert ps(tmp_path / "s", "-a", "--no-headers") == 0

    job, web = capsys.readouterr().out.splitlines()
    assert "Exited (7)" in job
    assert "Running" in web


def test_programs_get_a_document(tmp_path: Path, capsys: Captured) -> None:
    with serving(tmp_path / "s", **some_pods().answers()):
        assert ps(tmp_path / "s", "-a", "-o", "json") == 0

    document = json.loads(capsys.readouterr().out)
    assert document["runtime"]["name"] == "containerd"
    assert [(pod["uid"], pod["ips"]) for pod in document["items"]] == [
        ("job", ["10.0.0.7"]),
        ("web", ["10.0.0.7"]),
    ]
    assert document["items"][0]["containers"][0]["exitCode"] == 7


def test_where_nothing_runs_that_is_said(tmp_path: Path, capsys: Captured) -> None:
    with serving(tmp_path / "s"):
        assert ps(tmp_path / "s") == 0

    assert capsys.readouterr().err == f"nothing runs in containerd at unix://{tmp_path}/s\n"


def test_and_how_to_see_what_ran(tmp_path: Path, capsys: Captured) -> None:
    pods = Pods()
    pods.add(container("c", "p", state=ContainerState.EXITED))
    with serving(tmp_path / "s", **pods.answers()):
        assert ps(tmp_path / "s") == 0

    assert capsys.readouterr().err.endswith("; -a shows what has ended\n")


def test_a_status_that_cannot_be_had_is_shown(tmp_path: Path, capsys: Captured) -> None:
    answers = some_pods().answers() | {"ContainerStatus": RpcError("Internal", "shim is gone")}
    with serving(tmp_path / "s", **answers):
        assert ps(tmp_path / "s", "-a", "-o", "wide") == 0

    assert "rpc error: code = Internal desc = shim is gone" in capsys.readouterr().out


def test_a_runtime_that_is_not_there_is_named(tmp_path: Path, capsys: Captured) -> None:
    assert ps(tmp_path / "none") == 3

    assert capsys.readouterr().err == (
        f"error: no container runtime answers at unix://{tmp_path}/none: "
        "No such file or directory; --runtime-endpoint names another\n"
    )


def test_a_runtime_that_hangs_is_not_waited_for(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reflet.cli.commands.ps.TIMEOUT", 0.05)
    with serving(tmp_path / "s", Version=Call.hang):
        assert ps(tmp_path / "s") == 3

    assert "it takes connections and says nothing" in capsys.readouterr().err


def test_what_does_not_serve_cri_is_named(tmp_path: Path, capsys: Captured) -> None:
    unknown = RpcError("Unimplemented", "unknown service runtime.v1.RuntimeService")
    with serving(tmp_path / "s", Version=unknown):
        assert ps(tmp_path / "s") == 2

    assert "does not serve CRI v1: unknown service" in capsys.readouterr().err


def test_a_list_that_fails_is_told_as_the_kubelet_tells_it(
    tmp_path: Path, capsys: Captured
) -> None:
    with serving(tmp_path / "s", ListContainers=RpcError("Internal", "no")):
        assert ps(tmp_path / "s") == 3

    assert "PLEG is not healthy: pleg has yet to be successful" in capsys.readouterr().err


def test_a_socket_that_may_not_be_opened_is_exit_code_4(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: object, sock: socket.socket, address: object) -> None:
        raise PermissionError(13, "Permission denied", address)

    monkeypatch.setattr("asyncio.selector_events.BaseSelectorEventLoop.sock_connect", refuse)
    (tmp_path / "s").touch()

    assert ps(tmp_path / "s") == 4
    assert "permission denied: the socket of a container runtime is root's" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:1", "containerd.sock"])
def test_an_endpoint_that_is_none_is_a_mistake(endpoint: str, capsys: Captured) -> None:
    assert run(["reflet", "ps", "--runtime-endpoint", endpoint]) == 2

    assert f"--runtime-endpoint {endpoint}: not a unix socket" in capsys.readouterr().err


def test_a_machine_without_a_runtime_says_where_it_looked(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "reflet.cri.endpoints.find_endpoint.__defaults__", (("unix:///nowhere/a.sock",),)
    )

    assert run(["reflet", "ps"]) == 3
    assert capsys.readouterr().err == (
        "error: no container runtime was found (/nowhere/a.sock): name its socket with "
        "--runtime-endpoint; processes of reflet node are at its health port: "
        "curl 127.0.0.1:10248/pods\n"
    )
