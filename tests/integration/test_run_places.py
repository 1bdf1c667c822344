"""Where ``reflet run`` works: at a terminal, as the first process, isolated, on files alone."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.running import LOOP, MANIFESTS, PATIENCE, POLITE, memory, running, until
from tests.patience import Deadline


def allowed(*command: str) -> bool:
    try:
        return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


IN_PID_NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
needs_pid_namespace = pytest.mark.skipif(
    not allowed(*IN_PID_NAMESPACE), reason="this system allows no PID namespace here"
)
needs_mount_namespace = pytest.mark.skipif(
    not (allowed("unshare", "--mount") or allowed("unshare", "--user", "--mount")),
    reason="this system allows no mount namespace here",
)


@pytest.fixture
def manifests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "web.yaml"
    file.write_text(MANIFESTS)
    with memory() as place:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
        yield file


def edit(file: Path, old: str, new: str) -> None:
    """Replace the file, as editors do."""
    text = file.read_text()
    assert old in text
    replacement = file.with_suffix(".new")
    replacement.write_text(text.replace(old, new))
    replacement.replace(file)


# Files


def test_files_alone_are_enough(manifests: Path, tmp_path: Path) -> None:
    with running(tmp_path, ("-f", str(manifests))) as run:
        assert (run.code(), run.output) == (0, "one two level=info\n")


def test_an_edited_file_counts_as_a_change_on_the_server(manifests: Path, tmp_path: Path) -> None:
    with running(tmp_path, ("-f", str(manifests), "--", "sh", "-c", POLITE)) as run:
        run.until_output("up info")
        edit(manifests, "LEVEL: info", "LEVEL: debug")

        run.until_output("bye info\nup debug")
        assert "changed: variable LEVEL" in run.said


def test_a_file_that_is_half_edited_is_told_of_and_then_forgotten(
    manifests: Path, tmp_path: Path
) -> None:
    with running(tmp_path, ("-f", str(manifests), "--", "sh", "-c", POLITE)) as run:
        run.until_output("up info")
        edit(manifests, "LEVEL: info", "LEVEL: {info")
        run.until_said("the process keeps what it has")
        edit(manifests, "LEVEL: {info", "LEVEL: debug")

        run.until_output("up debug")
        assert run.output == "up info\nbye info\nup debug\n"


def test_what_the_files_do_not_have_is_refused_at_once(manifests: Path, tmp_path: Path) -> None:
    edit(manifests, "metadata: {name: database}", "metadata: {name: other}")

    with running(tmp_path, ("-f", str(manifests), "--", "true")) as run:
        assert run.code() == 125
        assert 'secret "database" not found' in run.said
        assert f"reflet why deployment/web -f {manifests}" in run.said


def test_manifests_may_come_by_standard_input(manifests: Path, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "reflet", "run", "-f", "-", "--", "sh", "-c", "echo $LEVEL"],
        input=manifests.read_bytes(),
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )

    assert (finished.returncode, finished.stdout) == (0, b"info\n")


# Isolated


@needs_mount_namespace
def test_isolated_it_sees_the_files_at_their_real_paths(manifests: Path, tmp_path: Path) -> None:
    script = """
        cat /etc/reflet-test/conf/app.conf /etc/reflet-test/conf/secrets/password
        cat /etc/reflet-test/fixed.conf $REFLET_ROOT/etc/reflet-test/conf/app.conf
        touch /reflet-test-scratch/mine && echo " wrote"
        touch /etc/reflet-test/conf/mine 2>/dev/null || echo refused
        pwd
    """

    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", "sh", "-c", script)) as run:
        assert run.code() == 0, run.said
        assert run.output.split() == ["onehunter2infoone", "wrote", "refused", str(tmp_path)]

    assert not Path("/etc/reflet-test").exists()
    assert not Path("/reflet-test-scratch").exists()


@needs_mount_namespace
def test_isolated_it_has_the_exact_environment_and_the_exact_code(
    manifests: Path, tmp_path: Path
) -> None:
    script = "tr '\\0' '\\n' < /proc/$$/environ | cut -d= -f1 | sort | tr '\\n' ' '; exit 9"

    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", "sh", "-c", script)) as run:
        assert run.code() == 9
        assert run.output.split() == ["DSN", "LEVEL", "PASSWORD", "PATH", "REFLET_ROOT"]


@needs_mount_namespace
def test_isolated_it_sees_new_files_and_is_restarted_all_the_same(
    manifests: Path, tmp_path: Path
) -> None:
    script = f"""
        trap 'exit 0' TERM
        echo up $LEVEL $(cat /etc/reflet-test/fixed.conf)
        until grep -q two /etc/reflet-test/conf/app.conf; do sleep 0.02; done
        echo seen
        {LOOP}
    """

    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", "sh", "-c", script)) as run:
        run.until_output("up info info")
        edit(manifests, "app.conf: one", "app.conf: two")
        run.until_output("seen")
        edit(manifests, "LEVEL: info", "LEVEL: debug")
        run.until_output("up debug debug")


@needs_mount_namespace
@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("no-such-command-anywhere", 127, "the command is not found"),
        ("/", 126, "the command cannot be run: permission denied"),
    ],
)
def test_isolated_a_command_that_cannot_run_has_the_code_of_env(
    manifests: Path, tmp_path: Path, command: str, code: int, words: str
) -> None:
    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", command)) as run:
        assert run.code() == code
        assert words in run.said


@needs_mount_namespace
def test_a_mount_path_that_is_a_file_here_is_told(manifests: Path, tmp_path: Path) -> None:
    edit(manifests, "mountPath: /reflet-test-scratch", "mountPath: /etc/passwd")

    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", "true")) as run:
        assert run.code() == 125
        assert "/etc/passwd is a file here and a folder in the container" in run.said


@pytest.mark.skipif(
    os.geteuid() != 0 or not allowed("unshare", "--user"), reason="needs root to limit namespaces"
)
def test_where_no_namespace_is_allowed_it_is_said_what_to_do(
    manifests: Path, tmp_path: Path
) -> None:
    # Inside a user namespace that may have no others, and without the right to mount.
    prefix = (
        *("unshare", "--user", "--map-root-user", "sh", "-c"),
        'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all "$@"',
        "sh",
    )

    with running(tmp_path, ("-f", str(manifests), "--isolate", "--", "true"), prefix=prefix) as run:
        assert run.code() == 125, run.said
        assert "--isolate: this system allows no mount namespace here" in run.said
        assert "without --isolate the files are under $REFLET_ROOT" in run.said


# The first process


@needs_pid_namespace
def test_as_the_first_process_it_passes_signals_on_and_reaps_orphans(
    manifests: Path, tmp_path: Path
) -> None:
    script = f"""
        trap 'echo TERM; exit 5' TERM
        (sh -c 'sleep 0.1' &); (sh -c 'sleep 0.1' &)
        echo up $PPID
        until [ $(grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l) = 0 ] &&
            [ $(ls -d /proc/[0-9]* | wc -l) -lt 7 ]; do sleep 0.05; done
        sleep 0.3; echo clean
        {LOOP}
    """

    with running(
        tmp_path, ("-f", str(manifests), "--", "sh", "-c", script), prefix=IN_PID_NAMESPACE
    ) as run:
        run.until_output("up 1")
        run.until_output("clean")
        inner = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text()
        os.kill(int(inner), signal.SIGTERM)

        assert run.code() == 5
        assert run.output.endswith("TERM\n")


@needs_pid_namespace
def test_as_the_first_process_it_ends_what_waits_when_it_is_told_to(
    manifests: Path, tmp_path: Path
) -> None:
    edit(manifests, "metadata: {name: database}", "metadata: {name: other}")
    arguments = ("-f", str(manifests), "--wait", "600", "--", "true")

    with running(tmp_path, arguments, prefix=IN_PID_NAMESPACE) as run:
        run.until_said("waiting: ")
        inner = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text()
        os.kill(int(inner), signal.SIGTERM)

        assert run.code() == 128 + signal.SIGTERM


# At a terminal


class Console:
    """A shell with job control at a terminal of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._text = ""

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def until(self, text: str) -> None:
        """Read on until the text has come, and forget what came before."""
        deadline = Deadline(PATIENCE)
        while text not in self._text:
            assert not deadline.passed, self._text
            if select.select([self._descriptor], [], [], 0.1)[0]:
                self._text += os.read(self._descriptor, 65536).decode(errors="replace")
        self._text = self._text.partition(text)[2]


@contextmanager
def console(folder: Path) -> Iterator[Console]:
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(folder)
        environment = {**os.environ, "PS1": "", "HISTFILE": "", "TERM": "dumb"}
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    try:
        opened = Console(descriptor)
        opened.type("stty -echo; bind 'set enable-bracketed-paste off'; PS1=; echo pro''mpt\n")
        opened.until("prompt")
        yield opened
    finally:
        os.kill(pid, signal.SIGHUP)
        os.close(descriptor)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def typed(manifests: Path, script: str, more: str = "") -> str:
    return f"{sys.executable} -m reflet run -f {manifests} -- sh -c '{script}' {more}\n"


def test_at_a_terminal_the_process_reads_what_is_typed(manifests: Path, tmp_path: Path) -> None:
    with console(tmp_path) as shell:
        shell.type(typed(manifests, "echo ready; read line; echo got $line; exit 7"))
        shell.until("ready")
        shell.type("hello\n")
        shell.until("got hello")
        shell.type("echo code $?\n")

        shell.until("code 7")


def test_at_a_terminal_ctrl_c_reaches_the_process_once(manifests: Path, tmp_path: Path) -> None:
    waiting = 'until [ "$n" ]; do sleep 0.05; done; sleep 0.5'
    script = f'trap "echo INT; n=x\\$n" INT; echo ready; {waiting}; echo n=$n'

    with console(tmp_path) as shell:
        shell.type(typed(manifests, script))
        shell.until("ready")
        shell.type("\x03")
        shell.until("INT")

        shell.until("n=x\r\n")


def test_at_a_terminal_ctrl_z_stops_both_and_fg_goes_on(manifests: Path, tmp_path: Path) -> None:
    with console(tmp_path) as shell:
        shell.type(typed(manifests, "echo ready; read line; echo got $line"))
        shell.until("ready")
        shell.type("\x1a")
        shell.until("Stopped")
        shell.type("echo mine\n")
        shell.until("mine")
        shell.type("fg\n")
        shell.until("reflet run")
        shell.type("hello\n")

        shell.until("got hello")


def test_at_a_terminal_it_is_given_back_at_the_end(manifests: Path, tmp_path: Path) -> None:
    with console(tmp_path) as shell:
        shell.type(typed(manifests, "echo $(cut -d\\  -f5,8 /proc/$$/stat) $$"))
        shell.type("sleep 0.1; read line; echo shell got $line\n")
        shell.until("\n")
        shell.type("word\n")

        shell.until("shell got word")


def test_at_a_terminal_a_pager_in_the_pipeline_keeps_it(manifests: Path, tmp_path: Path) -> None:
    reader = "{ read word < /dev/tty; echo pager got $word; }"

    with console(tmp_path) as shell:
        shell.type(typed(manifests, "echo ready >&2; sleep 1", f"| {reader}"))
        shell.until("ready")
        shell.type("word\n")

        shell.until("pager got word")


def test_without_job_control_nobody_is_stopped_for_good(manifests: Path, tmp_path: Path) -> None:
    """Stopped with nobody there to let it go on, it would never end."""
    script = "echo up; kill -TSTP $PPID; sleep 0.2; echo on; exit 3"

    with running(
        tmp_path, ("-f", str(manifests), "--", "sh", "-c", script), prefix=("setsid", "--wait")
    ) as run:
        until(lambda: "on" in run.output, lambda: run.said)
        assert run.code() == 3
