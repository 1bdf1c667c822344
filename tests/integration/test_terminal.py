"""What a person sees in a terminal, and a program in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import click
import pytest

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: example.com/web
    env:
    - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: database, key: passwrod}}}
    volumeMounts: [{name: settings, mountPath: /etc/settings}]
  volumes:
  - {name: settings, configMap: {name: settings}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: database}
stringData: {password: hunter2}
"""
COMMANDS = (
    ("why", "-f", "pod.yaml"),
    ("env", "-f", "pod.yaml"),
    ("lint", "pod.yaml"),
    ("explain", "-f", "pod.yaml"),
    ("used-by", "cm/settings", "-f", "pod.yaml"),
    ("--help",),
    ("env", "-f", "nowhere.yaml"),
)
ESCAPE = "\x1b["


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    left_out = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "KUBECONFIG"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TERM": "xterm-256color", **more}


def seen(arguments: tuple[str, ...], folder: Path, *, columns: int = 80, **more: str) -> str:
    """Return what a terminal shows."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "reflet", *arguments],
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=folder,
        env=environment(**more),
    ):
        os.close(its)
        text = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # nobody writes any more
                break
            if not data:
                break
            text += data
    os.close(ours)
    # A line that says how long it takes goes away again.
    return re.sub(r"\r[^\n]*\r(?!\n)", "", text.decode()).replace("\r\n", "\n")


def piped(arguments: tuple[str, ...], folder: Path, **more: str) -> str:
    """Return what a pipe gets."""
    return subprocess.run(
        [sys.executable, "-m", "reflet", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment(**more),
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_terminal_has_colour_and_a_pipe_has_none(
    arguments: tuple[str, ...], folder: Path
) -> None:
    assert ESCAPE in seen(arguments, folder)
    assert ESCAPE not in piped(arguments, folder)


@pytest.mark.parametrize("arguments", COMMANDS[:4], ids=" ".join)
def test_colour_can_be_taken_from_a_terminal_and_given_to_a_pipe(
    arguments: tuple[str, ...], folder: Path
) -> None:
    assert ESCAPE not in seen(arguments, folder, NO_COLOR="1")
    assert ESCAPE not in seen((*arguments, "--color=never"), folder)
    assert ESCAPE in piped(arguments, folder, FORCE_COLOR="1")
    assert ESCAPE in piped((*arguments, "--color=always"), folder)


@pytest.mark.parametrize("form", ["json", "yaml", "sarif", "junit", "github", "gitlab"])
def test_what_programs_read_has_no_colour_whoever_asks(form: str, folder: Path) -> None:
    assert ESCAPE not in seen(("lint", "pod.yaml", "-o", form, "--color=always"), folder)


@pytest.mark.parametrize("columns", [60, 80, 140])
@pytest.mark.parametrize("arguments", COMMANDS[:5], ids=" ".join)
def test_no_line_is_longer_than_the_terminal_or_cut_inside_a_word(
    arguments: tuple[str, ...], columns: int, folder: Path
) -> None:
    shown = click.unstyle(seen(arguments, folder, columns=columns))

    own = [line for line in shown.splitlines() if " | " not in line]  # else one of the file
    # A path of a field is a word.
    assert [line for line in own if len(line) > columns and " " in line.strip()] == []
    words = set(click.unstyle(piped(arguments, folder)).split())
    if arguments[0] != "env":  # a table, whose cells are cut, and say so
        assert [word for word in " ".join(own).split() if word not in words] == []


def test_the_table_comes_before_the_problems_and_each_problem_once(folder: Path) -> None:
    shown = click.unstyle(seen(("env", "-f", "pod.yaml"), folder))

    assert shown.startswith("NAME ")
    assert " ".join(shown.split()).count("has no key passwrod") == 1
    assert shown.endswith("error: container web would not start\n")


def test_no_heading_stands_over_nothing(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD.replace("name: settings, key: color", "name: no, key: c"))

    shown = click.unstyle(seen(("env", "-f", "pod.yaml"), folder))

    assert "NAME" not in shown
    assert shown.startswith("error: ")


def test_run_says_in_a_terminal_what_the_process_starts_with(folder: Path) -> None:
    (folder / "pod.yaml").write_text(POD.replace("passwrod", "password"))
    command = ("run", "-f", "pod.yaml", "--", "sh", "-c", "echo the color is $COLOR")

    shown = click.unstyle(seen(command, folder))

    first, *rest = shown.split("the color is blue\n")
    assert first.startswith("reflet: 2 variables, 1 file, REFLET_ROOT=/")
    assert first.count("\n") == 1
    assert rest == [""]
    assert piped(command, folder) == "the color is blue\n"


def test_every_command_says_the_same_about_a_reference_that_a_missing_object_may_set(
    folder: Path,
) -> None:
    wrong = (
        "    - {name: URL, value: http://$(HSOT)/}\n    envFrom: [{secretRef: {name: absent}}]\n"
    )
    (folder / "pod.yaml").write_text(POD.replace("    volumeMounts", f"{wrong}    volumeMounts"))

    for arguments in COMMANDS[:4]:
        shown = piped(arguments, folder)
        assert "absent does not exist" in shown
        assert "stays as it is" not in shown, arguments
