"""env, files, refs and explain: the same answers from files and from a server, kept fresh."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.cli.main import run
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import MERGE_PATCH, Client
from tests.patience import Deadline
from tests.pod_examples import NO_KEY, OBJECTS, same_everywhere

PATIENCE: Final = 20.0  # seconds for what must come
CORE: Final = "/api/v1/namespaces/default"
CONFIG_POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"tier": "front"}},
    "spec": {
        "containers": [{"name": "web", "image": "i"}],
        "volumes": [
            {"name": "config", "configMap": {"name": "special-config"}},
            {
                "name": "labels",
                "downwardAPI": {
                    "items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]
                },
            },
        ],
    },
}

Reflet = Callable[..., tuple[int, str, str]]


@pytest.fixture
def reflet(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> Reflet:
    def reflet(*arguments: str) -> tuple[int, str, str]:
        code = run(["reflet", *arguments, "--kubeconfig", str(server.kubeconfig)])
        return code, *capsys.readouterr()

    return reflet


@pytest.fixture
def examples(client: Client, tmp_path: Path, reflet: Reflet) -> Path:
    """Put the examples on the server, and into a file with the server's own service."""
    for plural, document in OBJECTS:
        client.create(f"{CORE}/{plural}", document)
    _, service, _ = reflet("get", "svc/kubernetes", "-o", "json")
    path = tmp_path / "examples.json"
    path.write_text("\n".join([*(json.dumps(document) for _, document in OBJECTS), service]))
    return path


@pytest.mark.parametrize("reveal", [(), ("--reveal",)])
@pytest.mark.parametrize("pod", ["secret-test-pod", "dapi-test-pod"])
def test_the_environment_is_the_same_from_files_and_from_the_server(
    reflet: Reflet, examples: Path, pod: str, reveal: tuple[str, ...]
) -> None:
    command = ("env", pod, "-o", "json", *reveal)

    offline = reflet(*command, "-f", str(examples))
    online = reflet(*command)

    assert offline[0] == online[0]
    assert same_everywhere(json.loads(offline[1])) == same_everywhere(json.loads(online[1]))


def test_the_secret_gives_its_variables_masked_unless_revealed(
    reflet: Reflet, examples: Path
) -> None:
    del examples  # they are on the server
    documents = [
        json.loads(reflet("env", "pod/secret-test-pod", "-o", "json", *more)[1])
        for more in ((), ("--reveal",))
    ]

    values = [
        {each["name"]: each["value"] for each in document["variables"]} for document in documents
    ]

    assert (values[0]["PASSWORD"], values[1]["PASSWORD"]) == ("‹secret 12 B›", "1f2d1e2e67df")
    assert values[1]["USER_NAME"] == "admin"


def test_a_key_that_is_missing_on_purpose_stops_the_container(
    reflet: Reflet, examples: Path
) -> None:
    for more in ((), ("-f", str(examples))):
        code, _, errors = reflet("env", "dapi-test-pod", *more)

        assert code == 1
        assert NO_KEY.format(namespace="default") in errors


def test_references_and_explanations_are_the_same_too(reflet: Reflet, examples: Path) -> None:
    for command in ("refs", "explain"):
        online = reflet(command, "pod", "secret-test-pod", "-o", "json")
        offline = reflet(command, "pod", "secret-test-pod", "-o", "json", "-f", str(examples))

        assert online[0] == offline[0] == 0
        assert same_everywhere(json.loads(online[1])) == same_everywhere(json.loads(offline[1]))


def test_files_are_the_same_too(
    reflet: Reflet, examples: Path, client: Client, tmp_path: Path
) -> None:
    client.create(f"{CORE}/pods", CONFIG_POD)
    with examples.open("a") as file:
        file.write(f"\n{json.dumps(CONFIG_POD)}\n")

    codes = [
        reflet("files", "web", "--to", str(tmp_path / place), *more)[0]
        for place, more in (("online", ()), ("offline", ("-f", str(examples))))
    ]

    found = [
        {
            str(path.relative_to(tmp_path / place)): path.read_text()
            for path in sorted((tmp_path / place).glob("*/[!.]*"))
        }
        for place in ("online", "offline")
    ]
    assert codes == [0, 0]
    assert (
        found[0]
        == found[1]
        == {
            "config/SPECIAL_LEVEL": "very",
            "config/SPECIAL_TYPE": "charm",
            "labels/l": 'tier="front"',
        }
    )


@contextmanager
def watching(
    arguments: tuple[str, ...],
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "reflet", "files", *arguments, "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def eventually(path: Path, text: str) -> bool:
    """Wait until a file says something."""
    deadline = Deadline(PATIENCE)
    while not deadline.passed:
        if path.exists() and path.read_text() == text:
            return True
        time.sleep(0.02)
    return False


def test_watched_files_follow_the_objects_and_the_pod(
    server: RunningServer, client: Client, examples: Path, tmp_path: Path
) -> None:
    del examples  # they are on the server
    client.create(f"{CORE}/pods", CONFIG_POD)
    out = tmp_path / "out"
    arguments = ("web", "--to", str(out), "--kubeconfig", str(server.kubeconfig))

    with watching(arguments) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "volume config: +SPECIAL_LEVEL +SPECIAL_TYPE\n"
        assert process.stdout.readline() == "volume labels: +l\n"
        client.request(
            "PATCH",
            f"{CORE}/configmaps/special-config",
            {"data": {"SPECIAL_LEVEL": "so"}},
            MERGE_PATCH,
        )
        assert process.stdout.readline() == "volume config: ~SPECIAL_LEVEL\n"
        assert eventually(out / "config/SPECIAL_LEVEL", "so")
        client.request(
            "PATCH", f"{CORE}/pods/web", {"metadata": {"labels": {"tier": "back"}}}, MERGE_PATCH
        )
        assert process.stdout.readline() == "volume labels: ~l\n"
        assert eventually(out / "labels/l", 'tier="back"')
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)

    assert code == 130
    assert (out / "config/SPECIAL_LEVEL").read_text() == "so"


def test_watched_files_stay_when_their_object_goes(
    server: RunningServer, client: Client, examples: Path, tmp_path: Path
) -> None:
    del examples  # they are on the server
    client.create(f"{CORE}/pods", CONFIG_POD)
    out = tmp_path / "out"
    arguments = ("web", "--to", str(out), "--kubeconfig", str(server.kubeconfig))

    with watching(arguments) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        client.request("DELETE", f"{CORE}/configmaps/special-config")
        said = process.stdout.readline()

    assert said == 'volume config: configmap "special-config" not found\n'
    assert (out / "config/SPECIAL_LEVEL").read_text() == "very"


def test_watching_does_not_begin_with_what_the_kubelet_would_refuse(
    reflet: Reflet, client: Client, tmp_path: Path
) -> None:
    client.create(f"{CORE}/pods", CONFIG_POD)

    code, output, errors = reflet("files", "web", "--to", str(tmp_path / "out"), "--watch")

    assert (code, output) == (1, "")
    assert 'volume config would not be set up: configmap "special-config" not found' in errors
    assert not (tmp_path / "out").exists()
