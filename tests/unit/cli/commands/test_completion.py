"""``reflet completion``: what the Tab key does, in the shells themselves."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import click
import pytest

from reflet.cli.commands.completion import SHELLS
from reflet.cli.main import COMMANDS, reflet, run
from reflet.testing.pytest_plugin import running_server
from tests.integration.plain_client import Client

PROGRAMS: Final = Path(sys.executable).parent
PATIENCE: Final = 20.0  # seconds for one answer

# How each shell is started without anybody's settings, and what it needs first.
STARTED: Final = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(reflet completion bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "autoload -U compinit && compinit -u -D && source <(reflet completion zsh)",
    ),
}
ESCAPES: Final = re.compile(
    rb"\x1b(\[[0-9;?<>=]*[a-zA-Z]|[()][A-Z0-9]|\][^\x07\x1b]*(\x07|\x1b\\))"
)


def after_tab(shell: str, typed: str, shown: str, folder: Path) -> str:
    """Type something into a shell on a terminal, press Tab and give what is on the screen."""
    command, preparation = STARTED[shell]
    ours, theirs = pty.openpty()
    environment = {
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "REFLET_COMPLETION_TIMEOUT": str(PATIENCE),  # this machine may have much to do
    }
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        # Put together by the shell, so that the echo of what is typed is not the answer.
        os.write(ours, f"{preparation}; printf 're%s\\n' ady\n".encode())
        seen = read_until(ours, "ready\r\n")
        os.write(ours, f"{typed}\t".encode())
        return seen + read_until(ours, shown)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, wanted: str) -> str:
    output, deadline = b"", time.monotonic() + PATIENCE
    while wanted not in (seen := ESCAPES.sub(b"", output).decode(errors="replace")):
        if time.monotonic() > deadline:
            return seen
        if select.select([terminal], [], [], 0.1)[0]:
            output += os.read(terminal, 65536)
    return seen


DEPLOYMENT: Final = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web"}]},
        },
    },
}
LINES: Final = [
    ("reflet api-r", "api-resources"),
    ("reflet get --all-name", "--all-namespaces"),
    ("reflet get -o na", "name"),
    ("reflet serve -f mani", "manifests/"),
]


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("shell", STARTED)
@pytest.mark.parametrize(("typed", "completed"), LINES)
def test_tab_completes(shell: str, typed: str, completed: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "manifests").mkdir()
    finished = typed.rpartition(" ")[0] + f" {completed}"

    assert finished in after_tab(shell, typed, finished, tmp_path)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.time_limit(120)
@pytest.mark.parametrize(
    ("typed", "finished"),
    [
        ("reflet get --context ar", "reflet get --context arn:aws:eks:dev/one"),
        ("reflet get --context arn:aws:e", "reflet get --context arn:aws:eks:dev/one"),
        ("reflet get --context=arn:aws:e", "reflet get --context=arn:aws:eks:dev/one"),
        ("reflet get -l 'a b' --context othe", "reflet get -l 'a b' --context other"),
        ("reflet get -l 'a b' -o na", "reflet get -l 'a b' -o name"),
    ],
)
def test_bash_completes_what_it_takes_for_several_words(
    typed: str, finished: str, tmp_path: Path
) -> None:
    names = ("arn:aws:eks:dev/one", "other")
    config = {"contexts": [{"name": name, "context": {"cluster": "here"}} for name in names]}
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(json.dumps(config))

    assert finished in after_tab("bash", typed, finished, tmp_path)


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("shell", STARTED)
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("reflet env deploy/we", "deploy/web"),
        ("reflet get deployments we", "web"),
        ("reflet get cm -n kube-sy", "kube-system"),
    ],
)
def test_tab_knows_what_the_server_has(
    shell: str, typed: str, completed: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    finished = typed.rpartition(" ")[0] + f" {completed}"

    with running_server({"tls": False}) as server:
        client = Client(server.url, server.token)
        made = client.request("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)
        assert made.code == 201, made.message
        (tmp_path / ".kube").mkdir()
        shutil.copy(server.kubeconfig, tmp_path / ".kube" / "config")

        assert finished in after_tab(shell, typed, finished, tmp_path)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("typed", "completed"), LINES)
def test_fish_completes(typed: str, completed: str, tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()

    offered = subprocess.run(
        ["fish", "--no-config", "-c", f"reflet completion fish | source; complete -C '{typed}'"],
        cwd=tmp_path,
        env={
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert completed in {line.partition("\t")[0] for line in offered.splitlines()}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_without_a_server(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", "completion", shell]) == 0

    assert f"_REFLET_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_an_unknown_shell_is_a_mistake_that_names_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["reflet", "completion", "cmd"]) == 2

    said = capsys.readouterr().err
    assert all(shell in said for shell in SHELLS)


def test_commands_are_completed_without_importing_them() -> None:
    words = reflet.shell_complete(click.Context(reflet, **reflet.context_settings), "")

    assert {word.value: word.help for word in words}.items() >= COMMANDS.items()


def test_an_unknown_command_is_completed_by_nothing_and_in_silence() -> None:
    finished = subprocess.run(
        [PROGRAMS / "reflet"],
        env={**os.environ, "_REFLET_COMPLETE": "bash_complete", "COMP_WORDS": "reflet gte -",
             "COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip

    assert finished.stderr == ""


def answer_to_kubectl(*words: str) -> list[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from reflet.cli.commands.completion import kubectl; kubectl()",
            *words,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_kubectl_is_told_words_with_their_meaning_and_no_files() -> None:
    assert answer_to_kubectl("api-") == [f"api-resources\t{COMMANDS['api-resources']}", ":4"]


def test_kubectl_is_told_where_files_belong() -> None:
    assert answer_to_kubectl("serve", "-f", "") == [":0"]


def test_kubectl_is_told_what_the_server_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLET_COMPLETION_TIMEOUT", str(PATIENCE))
    with running_server({"tls": False}) as server:
        shutil.copy(server.kubeconfig, tmp_path / "config")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))

        assert answer_to_kubectl("get", "-n", "kube-sy") == ["kube-system", ":4"]
        assert answer_to_kubectl("get", "namespaces", "kube-sy") == ["kube-system", ":4"]


def test_kubectl_that_knows_nothing_yet_gets_every_command() -> None:
    assert [line.partition("\t")[0] for line in answer_to_kubectl("")][: len(COMMANDS)] == [
        *COMMANDS
    ]
