"""Running a script as the original does, with an end; and signals to other processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reflet.processes.process_table import processes_called
from reflet.runtime.clock import SystemClock
from reflet.sidecar.scripts import (
    MOST_OUTPUT,
    ScriptEnd,
    ScriptTimedOut,
    run_script,
    signal_processes,
)
from tests.patience import within


def script(folder: Path, text: str, mode: int = 0o755) -> str:
    path = folder / "script"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


async def run(path: str, *, timeout: float) -> ScriptEnd:
    return await run_script(path, timeout=timeout, clock=SystemClock())


async def becomes(is_so: Callable[[], bool]) -> bool:
    """Wait for another process."""
    async with within(20):
        while not is_so():  # noqa: ASYNC110 - another process says nothing
            await asyncio.sleep(0.01)
    return True


async def test_a_script_has_our_environment_and_directory_and_no_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL", "findme")
    path = script(tmp_path, '#!/bin/sh\necho "$#|$LABEL|$PWD"\necho oops >&2\n')

    end = await run(path, timeout=10)

    assert end.output.decode() == f"0|findme|{Path.cwd()}\n"
    assert (end.errors, end.code, end.command) == (b"oops\n", 0, (path,))


@pytest.mark.parametrize(
    ("text", "mode"),
    [("echo by-sh\n", 0o755), ("#!/no/such/thing\necho by-sh\n", 0o644)],
    ids=["no first line", "not executable"],
)
async def test_what_is_no_program_is_run_by_sh(tmp_path: Path, text: str, mode: int) -> None:
    path = script(tmp_path, text, mode)

    end = await run(path, timeout=10)

    assert (end.output, end.command) == (b"by-sh\n", ("sh", path))


async def test_any_interpreter_will_do(tmp_path: Path) -> None:
    path = script(tmp_path, f"#!{sys.executable}\nprint('from python')\n")

    assert (await run(path, timeout=10)).output == b"from python\n"


async def test_a_script_that_is_not_there_is_an_end_with_an_error() -> None:
    end = await run("/no/such/script", timeout=10)

    assert end.code != 0
    assert b"/no/such/script" in end.errors


async def test_a_script_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    text = f"#!/bin/sh\nsleep 300 &\necho $! > {tmp_path}/pid\nwait\n"

    with pytest.raises(ScriptTimedOut, match=r"was killed after 0\.2 s"):
        await run(script(tmp_path, text), timeout=0.2)

    pid = int((tmp_path / "pid").read_text())
    assert await becomes(lambda: not Path(f"/proc/{pid}/stat").exists() or _state(pid) == "Z")


async def test_what_a_script_leaves_in_the_background_holds_nobody_up(tmp_path: Path) -> None:
    text = f"#!/bin/sh\nsleep 300 &\necho $! > {tmp_path}/pid\necho done\n"

    end = await run(script(tmp_path, text), timeout=60)

    pid = int((tmp_path / "pid").read_text())
    assert (end.code, end.output) == (0, b"done\n")
    assert Path(f"/proc/{pid}").exists()
    os.kill(pid, signal.SIGKILL)


async def test_a_script_that_says_much_is_heard_to_its_end(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\nhead -c 1000000 /dev/zero\nexit 3\n")

    end = await run(path, timeout=30)

    assert (end.code, len(end.output)) == (3, MOST_OUTPUT)


async def test_a_cancelled_script_is_killed(tmp_path: Path) -> None:
    path = script(tmp_path, f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 300\n")
    task = asyncio.create_task(run(path, timeout=0))
    noted = tmp_path / "pid"
    assert await becomes(lambda: noted.exists() and noted.read_text() != "")

    task.cancel()
    await asyncio.wait((task,))

    assert task.cancelled()
    assert not Path(f"/proc/{int((tmp_path / 'pid').read_text())}").exists()


async def test_a_process_is_signalled_by_its_name_or_number(tmp_path: Path) -> None:
    name = f"app-{os.getpid()}"
    program = tmp_path / name
    program.symlink_to("/bin/sleep")
    process = await asyncio.create_subprocess_exec(program, "300")
    try:
        assert processes_called(name) == processes_called(str(process.pid)) == [process.pid]
        assert signal_processes(name, signal.SIGTERM) == [process.pid]
    finally:
        code = await process.wait()

    assert code == -signal.SIGTERM
    assert signal_processes(name, signal.SIGTERM) == []


def test_nobody_signals_himself() -> None:
    assert processes_called(str(os.getpid())) == []


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
