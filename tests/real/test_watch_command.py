"""``reflet watch`` as a person runs it, against a real API server that comes and goes."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

import pytest

from tests.real.access_rules import Role
from tests.real.kube_server import KubeServer

PATIENCE: Final = 40.0  # seconds for a line that must come


class Watching:
    """A running ``reflet watch``: its lines, one by one."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._out = _Lines(process.stdout)
        self._err = _Lines(process.stderr)

    def line(self) -> str:
        return self._out.next()

    def event(self) -> tuple[str, str]:
        """The type and the name of the object of the next jsonl line."""
        document = json.loads(self.line())
        return document["type"], (document["object"] or {"metadata": {"name": ""}})["metadata"][
            "name"
        ]

    def said(self) -> str:
        return self._err.next()

    def end(self, number: signal.Signals | None = None) -> int:
        if number is not None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def rest(self) -> tuple[list[str], list[str]]:
        """What came after the lines that were read; only when it has ended."""
        return self._out.rest(), self._err.rest()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._out.close()
        self._err.close()


class _Lines:
    def __init__(self, stream: IO[str] | None) -> None:
        assert stream is not None
        self._stream = stream
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        for line in self._stream:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def next(self) -> str:
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, "it has ended"
        return line

    def rest(self) -> list[str]:
        return list(iter(lambda: self._lines.get(timeout=PATIENCE), None))

    def close(self) -> None:
        self._reading.join()
        self._stream.close()


Launch = Callable[..., subprocess.Popen[str]]
Start = Callable[..., Watching]


@pytest.fixture
def launch(kube: KubeServer, namespace: str, tmp_path: Path) -> Launch:
    """Run ``reflet watch``, as *role*, in a home of its own."""

    def run(*arguments: str, role: Role = "admin") -> subprocess.Popen[str]:
        config = kube.write_kubeconfig(tmp_path / "config", role, namespace=namespace)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "KUBECONFIG": str(config),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "reflet", "watch", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


@pytest.fixture
def start(launch: Launch) -> Iterator[Start]:
    """The same, followed line by line."""
    with ExitStack() as to_close:

        def run(*arguments: str, role: Role = "admin") -> Watching:
            watching = Watching(launch(*arguments, role=role))
            to_close.callback(watching.close)
            return watching

        yield run


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def create(kube: KubeServer, namespace: str, *names: str, plural: str = "configmaps") -> None:
    with kube.connect() as connection:
        for name in names:
            body = {"metadata": {"name": name}}
            connection.create(path(namespace, plural=plural), body)


def replace(kube: KubeServer, namespace: str, name: str, data: dict[str, str]) -> None:
    body = {"metadata": {"name": name}, "data": data}
    assert kube.request("PUT", path(namespace, name), body).code == 200


def delete(kube: KubeServer, namespace: str, name: str) -> None:
    assert kube.request("DELETE", path(namespace, name)).code == 200


def test_a_table_tells_what_is_there_then_what_changes(
    kube: KubeServer, namespace: str, start: Start
) -> None:
    create(kube, namespace, "settings")

    watching = start("cm")

    assert watching.line().split() == ["TYPE", "TIME", "NAME", "DETAILS"]
    kind, _, name, *details = watching.line().split()
    assert (kind, name, details) == ("ADDED", "settings", ["0", "keys"])
    kind, _, *told = watching.line().split()
    assert (kind, told) == ("SYNCED", ["1", "object"])
    replace(kube, namespace, "settings", {"colour": "blue"})
    kind, _, name, *details = watching.line().split()
    assert (kind, name, details) == ("UPDATED", "settings", ["1", "key;", "+colour"])
    delete(kube, namespace, "settings")
    kind, _, *told = watching.line().split()
    assert (kind, told) == ("DELETED", ["settings"])


def test_all_namespaces_are_named(kube: KubeServer, namespace: str, start: Start) -> None:
    watching = start("cm", "-A", "-l", "test=everywhere", "--no-headers")
    assert watching.line().split()[0] == "SYNCED"

    body = {"metadata": {"name": "here", "labels": {"test": "everywhere"}}}
    with kube.connect() as connection:
        connection.create(path(namespace), body)

    kind, _, *place = watching.line().split()
    assert (kind, place) == ("ADDED", [namespace, "here", "0", "keys"])


def test_an_object_that_does_not_exist_yet_is_awaited(
    kube: KubeServer, namespace: str, start: Start
) -> None:
    watching = start("cm/late", "-o", "jsonl")
    assert watching.line() == '{"type":"SYNCED","object":null}'

    create(kube, namespace, "other", "late")

    assert watching.event() == ("ADDED", "late")


@pytest.mark.time_limit(120)
def test_a_restart_repeats_nothing_and_loses_no_deletion(
    kube: KubeServer, namespace: str, start: Start
) -> None:
    create(kube, namespace, "changed", "deleted", "untouched")
    watching = start("cm", "-o", "jsonl")
    seen = [watching.event() for _ in range(4)]
    assert seen == [
        ("ADDED", "changed"),
        ("ADDED", "deleted"),
        ("ADDED", "untouched"),
        ("SYNCED", ""),
    ]

    with kube.outage(patience=0):
        assert watching.said().startswith("warning: lost the server: ")
    assert watching.said() == "the server is back"
    replace(kube, namespace, "changed", {"a": "1"})
    delete(kube, namespace, "deleted")

    assert [watching.event() for _ in range(2)] == [("UPDATED", "changed"), ("DELETED", "deleted")]
    assert watching.end(signal.SIGINT) == 130
    assert watching.rest() == ([], [""])  # nothing but the newline after ^C


@pytest.mark.time_limit(150)
def test_what_was_deleted_while_history_was_lost_is_told(
    kube: KubeServer, namespace: str, start: Start
) -> None:
    """The watch sleeps, as on a closed laptop, and wakes when its version has expired."""
    create(kube, namespace, "deleted", "untouched")
    watching = start("cm", "-o", "jsonl")
    assert [watching.event()[0] for _ in range(3)] == ["ADDED", "ADDED", "SYNCED"]

    with kube.outage(patience=0):
        assert watching.said().startswith("warning: lost the server: ")
        watching.process.send_signal(signal.SIGSTOP)
    delete(kube, namespace, "deleted")
    create(kube, namespace, "new")
    kube.compact()
    kube.restart_apiserver(patience=0)
    watching.process.send_signal(signal.SIGCONT)

    assert [watching.event(), watching.event()] == [("DELETED", "deleted"), ("ADDED", "new")]
    replace(kube, namespace, "untouched", {"a": "1"})
    assert watching.event() == ("UPDATED", "untouched")


@pytest.mark.time_limit(120)
def test_a_server_that_is_not_there_yet_is_awaited(
    kube: KubeServer, namespace: str, start: Start
) -> None:
    with kube.outage(patience=0):
        watching = start("cm", "-o", "jsonl")
        assert watching.said().startswith("warning: cannot watch yet: ")

    assert watching.event() == ("SYNCED", "")
    assert watching.said() == "the server is back"


def test_secrets_are_masked_unless_asked(kube: KubeServer, namespace: str, start: Start) -> None:
    body = {"metadata": {"name": "s"}, "stringData": {"key": "hush-hush"}}
    with kube.connect() as connection:
        connection.create(path(namespace, plural="secrets"), body)

    masked: dict[str, Any] = json.loads(start("secret", "-o", "jsonl").line())
    shown: dict[str, Any] = json.loads(start("secret", "-o", "jsonl", "--reveal").line())

    assert masked["object"]["data"] == {"key": "‹secret 9 B›"}
    assert shown["object"]["data"] == {"key": "aHVzaC1odXNo"}


def test_what_is_forbidden_ends_at_once(start: Start) -> None:
    watching = start("secrets", role="restricted")

    assert watching.end() == 4
    printed, (said,) = watching.rest()
    assert printed == []
    assert said.startswith("error: ")
    assert 'cannot list resource "secrets"' in said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["configmapz"], 2, "did you mean configmaps"),
        (["cm", "-l", "a in (b"], 2, "a in (b"),
        (["cm", "--field-selector", "data.a=1"], 1, "not a known field selector"),
        (["cm,secrets"], 2, "at a time"),
    ],
    ids=["unknown type", "bad selector", "refused selector", "two types"],
)
def test_mistakes_end_at_once(start: Start, arguments: list[str], code: int, words: str) -> None:
    watching = start(*arguments)

    assert watching.end() == code
    printed, (said,) = watching.rest()
    assert printed == []
    assert words in said


def test_who_is_not_known_is_told_and_waits(kube: KubeServer, namespace: str, start: Start) -> None:
    watching = start("cm", "--token", "nobody-canary")

    said = watching.said()
    assert said.startswith("warning: cannot watch yet: ")
    assert "Unauthorized" in said
    assert "canary" not in said
    assert watching.end(signal.SIGTERM) == -signal.SIGTERM


def test_a_reader_who_has_enough_ends_it_silently(
    kube: KubeServer, namespace: str, launch: Launch
) -> None:
    with launch("cm", "-o", "jsonl") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == '{"type":"SYNCED","object":null}\n'

        process.stdout.close()
        create(kube, namespace, "one", "two")

        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""
