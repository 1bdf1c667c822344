"""The entry points: the list of commands, the usage text, errors and exit codes."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

import reflet.cli.commands
from reflet import errors
from reflet._version import __version__
from reflet.cli import main
from reflet.cli.main import COMMANDS, exit_code, program_name, run
from tests.unit.cli.scripted_api import SILENCE, ScriptedApi, table

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def command(name: str) -> click.Command:
    found = main.reflet.get_command(
        click.Context(main.reflet, **main.reflet.context_settings), name
    )
    assert found is not None
    return found


def started(
    *arguments: str, program: Sequence[str] = (), **environment: str
) -> subprocess.Popen[str]:
    """Start the command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", *(program or ("-m", "reflet")), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


# The commands


def test_the_list_of_commands_names_exactly_those_there_are() -> None:
    defined = set()
    for module in pkgutil.iter_modules(reflet.cli.commands.__path__):
        found = importlib.import_module(f"reflet.cli.commands.{module.name}")
        if isinstance(getattr(found, module.name, None), click.Command):
            defined.add(module.name.replace("_", "-"))

    assert set(COMMANDS) == defined


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_described_as_the_list_describes_it(name: str) -> None:
    described = " ".join((command(name).help or "").split())

    assert described.lower().startswith(f"{COMMANDS[name].lower()}.")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_names_every_flag(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", name, "--help"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: reflet {name} ")
    for parameter in command(name).params:
        for flag in parameter.opts if isinstance(parameter, click.Option) else ():
            assert flag in shown


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", *arguments]) == 0

    shown, complaint = capsys.readouterr()
    assert shown.startswith("Usage: reflet ")
    for name, description in COMMANDS.items():
        assert f"{name} {description}" in " ".join(shown.split())
    assert complaint == ""


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "--version"]) == 0

    assert capsys.readouterr().out == f"reflet {__version__}\n"


@pytest.mark.parametrize("wrong", ["main", "output", "connection_options", "api_resources", ""])
def test_a_module_that_is_no_command_cannot_be_called(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", wrong]) == 2

    assert f"unknown command {wrong!r}" in capsys.readouterr().err


def test_a_table_entry_that_is_no_command_is_our_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reflet.cli.commands.version.version", "text")
    monkeypatch.setitem(COMMANDS, "version", "not a command")

    with pytest.raises(TypeError, match="is not a command"):
        command("version")


# The usage text


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/usr/local/bin/kubectl-reflet", "kubectl reflet"),
        ("kubectl-reflet", "kubectl reflet"),
        ("reflet", "reflet"),
        ("/home/me/kubectl-tools/reflet", "reflet"),
        ("/src/reflet/__main__.py", "reflet"),
        ("", "reflet"),
    ],
)
def test_the_program_is_named_as_it_was_called(path: str, name: str) -> None:
    assert program_name(path) == name


def test_kubectls_users_see_kubectls_form(capsys: pytest.CaptureFixture[str]) -> None:
    run(["/usr/bin/kubectl-reflet", "get", "--help"])
    run(["/usr/bin/kubectl-reflet", "get", "--nope"])

    shown, complaint = capsys.readouterr()
    assert shown.startswith("Usage: kubectl reflet get ")
    assert complaint.endswith("(see kubectl reflet get --help)\n")


@pytest.mark.parametrize("name", ["reflet", "kubectl-reflet"])
def test_both_programs_are_installed(name: str) -> None:
    program = Path(sys.executable).parent / name

    with started("--help", program=[str(program)]) as process:
        shown, complaint = process.communicate(timeout=30)

    assert shown.startswith(f"Usage: {name.replace('-', ' ')} ")
    assert (process.returncode, complaint) == (0, "")


# Mistakes and failures


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["gett"], "error: unknown command 'gett', did you mean 'get'? (see reflet --help)"),
        (["xyzzy"], "error: unknown command 'xyzzy' (see reflet --help)"),
        (["get"], "error: name the type of the objects, as in: configmaps, cm/NAME"),
        (["get", "cm", "--token"], "error: Option '--token' requires an argument."),
        (["get", "cm", "--kubeconfig", "\x1b[31m"], "error: --kubeconfig \\x1b[31m: no such file"),
        (["get", "cm", "--kubeconfig", "a\nb"], "error: --kubeconfig a b: no such file"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", *arguments]) == 2

    shown, complaint = capsys.readouterr()
    assert shown == ""
    assert complaint.count("\n") == 1
    assert complaint.startswith(line)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigurationError(""), 2),
        (errors.ParseError(""), 2),
        (errors.DecodeError(""), 2),
        (errors.TransportError(""), 3),
        (errors.ConnectionRefused(""), 3),
        (errors.DeadlineExceeded(""), 3),
        (errors.TLSFailure(""), 3),
        (errors.CredentialsError(""), 3),
        (errors.Unauthorized(""), 3),
        (errors.Forbidden(""), 4),
        (errors.NotFound(""), 1),
        (errors.Conflict(""), 1),
        (errors.InternalError(""), 1),
        (errors.ApiError(""), 1),
        (errors.RefletError(""), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_failure_has_its_exit_code(error: errors.RefletError, code: int) -> None:
    assert exit_code(error) == code


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("reflet.cli.commands.version.version", broken)

    with pytest.raises(ZeroDivisionError):
        run(["reflet", "version"])


@pytest.mark.parametrize(
    ("ending", "code"), [(7, 7), (0, 0), (None, 0), ("text", 0)], ids=lambda value: f"{value!r}"
)
def test_a_command_may_choose_its_exit_code(
    ending: object, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    def ends() -> object:
        return ending

    monkeypatch.setattr("reflet.cli.commands.version.version", ends)

    assert run(["reflet", "version"]) == code


# Pipes, disks and signals


def test_a_reader_who_has_enough_is_no_failure() -> None:
    many = table(*((f"name-{number}", "x" * 500) for number in range(2000)))
    with (
        ScriptedApi(tables={CONFIG_MAPS: many}).serving() as api,
        started("get", "cm", "--server", api.url) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().split() == ["NAME", "DATA"]
        process.stdout.close()

        assert process.stderr.read() == ""
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("get", "--help"), ("version", "--client")], ids=" ".join
)
def test_a_reader_who_never_was_is_no_failure(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        finished = subprocess.run(
            [sys.executable, "-m", "reflet", *arguments],
            stdout=nobody,
            stderr=subprocess.PIPE,
            check=False,
            timeout=30,
        )

    assert (finished.returncode, finished.stderr) == (0, b"")


BROKEN = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: i, envFrom: [{configMapRef: {name: missing}}]}]
  volumes: [{name: v, configMap: {name: missing}}]
"""


@pytest.mark.parametrize("name", ["env", "explain", "files", "lint", "why"])
def test_what_was_found_is_the_exit_code_even_if_nobody_reads_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(BROKEN)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        finished = subprocess.run(
            [sys.executable, "-m", "reflet", name, "-f", "web.yaml", "-o", "json"],
            cwd=tmp_path,
            stdout=nobody,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=30,
        )

    assert finished.returncode == 1


def test_a_full_disk_is_told_of() -> None:
    with Path("/dev/full").open("wb") as full:
        finished = subprocess.run(
            [sys.executable, "-m", "reflet", "version", "--client"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            timeout=30,
        )

    assert finished.returncode == 1
    assert finished.stderr == "error: No space left on device\n"


def test_an_interrupted_command_ends_at_once() -> None:
    with (
        ScriptedApi(tables={CONFIG_MAPS: SILENCE}).serving() as api,
        started("get", "cm", "--server", api.url) as process,
    ):
        api.wait_for_a_request()
        process.send_signal(signal.SIGINT)
        shown, complaint = process.communicate(timeout=30)

    assert process.returncode == 130
    assert (shown, complaint.strip()) == ("", "")


def test_a_terminal_without_our_letters_gets_their_numbers() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": ""}}
    path = "/api/v1/namespaces/default/secrets/s"
    with (
        ScriptedApi({path: secret}).serving() as api,
        started(
            *("get", "secret/s", "-o", "json", "--server", api.url), PYTHONIOENCODING="iso8859-1"
        ) as process,
    ):
        shown, complaint = process.communicate(timeout=30)

    assert (process.returncode, complaint) == (0, "")
    assert json.loads(shown)["data"] == {"k": "‹secret 0 B›"}
