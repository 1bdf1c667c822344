"""``reflet run`` on a development server: real processes, real sockets, real files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflet.processes.process_table import process_entries, process_entry
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import Client
from tests.integration.running import (
    LOOP,
    POLITE,
    Start,
    server_options,
    shell,
    starting,
    until,
)


@pytest.fixture
def reflet_server_options(tmp_path: Path) -> dict[str, Any]:
    return server_options(tmp_path)


@pytest.fixture
def start(server: RunningServer, tmp_path: Path) -> Iterator[Start]:
    with starting(server, tmp_path) as start_run:
        yield start_run


def lives(marker: str) -> list[int]:
    """The processes that have a marker in their command."""
    found = []
    for entry in process_entries():
        try:
            command = Path(f"/proc/{entry.pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if marker.encode() in command:
            found.append(entry.pid)
    return found


# What it gets


def test_the_environment_is_the_pods_and_path_and_nothing_else(start: Start) -> None:
    with start(command=["/usr/bin/env"]) as run:
        assert run.code() == 0
        lines = dict(line.split("=", 1) for line in run.output.splitlines())

    root = lines.pop("REFLET_ROOT")
    # The address of the API server is every container's, whatever it asks for.
    own = {name: value for name, value in lines.items() if not name.startswith("KUBERNETES_")}
    assert own == {
        "PATH": os.environ["PATH"],
        "LEVEL": "info",
        "PASSWORD": "hunter2",
        "DSN": "db:hunter2",
    }
    assert len(lines) == len(own) + 8
    assert not Path(root).exists()


def test_local_variables_are_passed_on_when_asked_for_and_others_set_or_taken_away(
    start: Start,
) -> None:
    arguments = ("--inherit", "LOC*", "--set", "LEVEL=mine", "--set", "NEW=a=b", "--unset", "DSN")

    with start(*arguments, command=["/usr/bin/env"]) as run:
        assert run.code() == 0
        lines = dict(line.split("=", 1) for line in run.output.splitlines())

    assert (lines["LOCAL"], lines["LEVEL"], lines["NEW"]) == ("local", "mine", "a=b")
    assert "DSN" not in lines


def test_without_a_command_the_containers_own_runs_expanded(start: Start) -> None:
    with start() as run:
        assert run.code() == 0
        assert run.output == "one two level=info\n"


def test_the_files_are_at_their_mount_paths_under_the_root(start: Start) -> None:
    script = """
        cd $REFLET_ROOT
        cat etc/reflet-test/conf/app.conf etc/reflet-test/conf/secrets/password
        cat etc/reflet-test/fixed.conf
        touch reflet-test-scratch/mine && echo " wrote"
        stat -c %a . .reflet etc/reflet-test/conf/..data/app.conf
        stat -L -c %a etc/reflet-test/conf/secrets/password
    """

    with start(command=shell(script)) as run:
        assert run.code() == 0
        assert run.output.split() == ["onehunter2info", "wrote", "700", "700", "644", "400"]
        assert (
            "/reflet-test-claim is not there: volume claim is a persistentVolumeClaim" in run.said
        )


def test_a_folder_of_ones_own_is_emptied_at_the_end(start: Start, tmp_path: Path) -> None:
    root = tmp_path / "files"
    root.mkdir()

    with start(
        "--root", str(root), command=shell("cat $REFLET_ROOT/etc/reflet-test/*/app.conf")
    ) as run:
        assert (run.code(), run.output) == (0, "one")

    assert list(root.iterdir()) == []


PODS = "/api/v1/namespaces/default/pods"
PROJECTED = {
    "name": "account",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}},
            {"configMap": {"name": "settings", "items": [{"key": "LEVEL", "path": "level"}]}},
        ]
    },
}


@pytest.mark.parametrize(
    ("arguments", "files", "note"),
    [((), ["level"], "volume account is not complete"), (("--tokens",), ["level", "token"], "")],
)
def test_tokens_are_made_only_when_they_are_asked_for(
    start: Start, client: Client, arguments: Sequence[str], files: list[str], note: str
) -> None:
    mount = {"name": "account", "mountPath": "/account"}
    container = {"name": "main", "image": "x", "volumeMounts": [mount]}
    client.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "shop"}})
    spec = {"containers": [container], "volumes": [PROJECTED], "serviceAccountName": "shop"}
    client.create(PODS, {"metadata": {"name": "lonely"}, "spec": spec})

    command = shell("cd $REFLET_ROOT/account; ls; test ! -e token || test -s token")
    with start(*arguments, command=command, target="pod/lonely") as run:
        assert run.code() == 0
        assert run.output.split() == files
        assert note in run.said


@pytest.mark.parametrize(
    ("arguments", "files"), [((), []), (("--tokens",), ["namespace", "token"])]
)
def test_a_process_of_a_workload_gets_the_token_that_admission_adds_if_it_asks(
    start: Start, client: Client, arguments: Sequence[str], files: list[str]
) -> None:
    """Nobody publishes certificates on this server: that file is left out."""
    client.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})

    command = shell(
        "cd $REFLET_ROOT/var/run/secrets/kubernetes.io/serviceaccount 2>/dev/null || exit 0; "
        "ls; test -s token && test $(cat namespace) = default"
    )
    with start(*arguments, command=command) as run:
        assert run.code() == 0, run.said
        assert run.output.split() == files


# Ends


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (shell("exit 0"), 0, ""),
        (shell("exit 7"), 7, ""),
        (shell("exit 125"), 125, ""),
        (shell("kill -KILL $$"), 137, ""),
        (shell("kill -TERM $$"), 143, ""),
        (("no-such-command-anywhere",), 127, "no-such-command-anywhere: the command is not found"),
        (("/no/such/command",), 127, "the command is not found"),
        (("/",), 126, "the command cannot be run: permission denied"),
    ],
)
def test_the_exit_code_is_that_of_env(
    start: Start, command: Sequence[str], code: int, words: str
) -> None:
    with start(command=command) as run:
        assert run.code() == code
        assert words in run.said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--on-change", "sometimes"), "--on-change: 'sometimes' is not"),
        (("--on-change", "signal:NOTHING"), "'NOTHING' is not the name of a signal"),
        (("-c", "other"), "has no container 'other'; it has web"),
        (("--root", "/proc"), "--root /proc is not empty"),
        (("--no-such-flag",), "no-such-flag"),
        (("--set", "hunter2"), "--set takes NAME=VALUE"),
    ],
)
def test_a_mistake_does_not_look_like_the_commands_own_code(
    start: Start, arguments: Sequence[str], words: str
) -> None:
    with start(*arguments, command=["true"]) as run:
        assert run.code() == 125
        assert words in run.said
        assert "hunter2" not in run.said.replace("--set hunter2", "")


def test_a_process_that_fails_is_started_again_if_it_is_asked_for(start: Start) -> None:
    with start("--restart", "on-failure", command=shell("echo up; sleep 0.1; exit 3")) as run:
        run.until_output("up\nup")
        run.until_said("the process ended with code 3; it is started again now")
        run.until_said("the process ended with code 3; it is started again in 10 s")
        run.signal(signal.SIGTERM)
        assert run.code() == 143


def test_one_that_succeeds_is_started_again_only_always(start: Start) -> None:
    with start("--restart", "on-failure", command=shell("exit 0")) as run:
        assert run.code() == 0
    with start("--restart", "always", command=shell("echo up")) as run:
        run.until_output("up\nup")


@pytest.mark.parametrize(
    "number",
    [
        *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
        *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH),
    ],
)
def test_a_signal_is_passed_on(start: Start, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")

    with start(command=shell(f"trap 'echo {name}; exit 9' {name}; echo up; {LOOP}")) as run:
        run.until_output("up")
        run.signal(number)

        assert (run.code(), run.output) == (9, f"up\n{name}\n")


def test_nothing_that_the_process_started_outlives_it(start: Start) -> None:
    marker = f"reflet-test-{os.getpid()}"
    stray = f"exec -a {marker} sleep 300"
    started = f"bash -c '{stray}' & setsid bash -c '{stray}' & (setsid bash -c '{stray}' &)"
    script = f"{started}; sleep 0.5; exit 4"

    with start(command=("bash", "-c", script)) as run:
        until(lambda: len(lives(f"{marker}")) >= 3)
        assert run.code() == 4

    until(lambda: lives(marker) == [])


def test_orphans_of_the_process_do_not_stay_zombies(start: Start) -> None:
    script = f"(sh -c 'sleep 0.1' &) ; (sh -c 'sleep 0.1' &); echo up; trap 'exit 0' TERM; {LOOP}"

    with start(command=shell(script)) as run:
        run.until_output("up")
        own = run.process.pid
        # Both are left to us and end; a zombie would stay for as long as we look.
        until(
            lambda: any(each.parent == own and each.has_ended for each in process_entries()) or True
        )
        until(
            lambda: (
                [each.pid for each in process_entries() if each.parent == own and each.has_ended]
                == []
            )
        )
        run.signal(signal.SIGTERM)
        assert run.code() == 0


def test_killed_it_takes_its_process_along_and_leaves_files_to_the_next_run(start: Start) -> None:
    with start(command=shell("echo $REFLET_ROOT $$; exec sleep 300")) as run:
        run.until_output("\n")
        root, process = run.output.split()
        run.process.kill()
        run.process.wait()
        until(lambda: (found := process_entry(int(process))) is None or found.has_ended)
    assert Path(root).exists()

    with start(command=["true"]) as run:
        assert run.code() == 0
    assert not Path(root).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the names of processes are Linux's")
def test_no_secret_is_in_the_names_of_our_own_process(start: Start) -> None:
    with start(command=shell(POLITE)) as run:
        run.until_output("up info")
        own = Path(f"/proc/{run.process.pid}")

        assert b"hunter2" not in (own / "cmdline").read_bytes()
        assert b"hunter2" not in (own / "environ").read_bytes()
