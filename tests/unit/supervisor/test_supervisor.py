"""The life of a process: started, told, restarted, ended; with configurations from a script."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import RefletError
from reflet.processes.program import NotStarted
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.supervisor import supervisor
from reflet.supervisor.configuration_changes import FilesOnChange, SignalOnChange
from reflet.supervisor.container_configuration import ContainerConfiguration
from reflet.supervisor.mount_tree import MountTree
from reflet.supervisor.private_root import private_root
from reflet.supervisor.run_options import RestartPolicy, RunOptions
from reflet.supervisor.supervisor import ContainerRefused, Supervisor
from reflet.volumes.volume_errors import VolumeError
from tests.patience import within
from tests.unit.supervisor.scenes import config_map, pod, resolved

LOOP = "while :; do sleep 0.02; done"
POLITE = f"trap 'exit 5' TERM; echo up $A; {LOOP}"
SUBJECT = pod(
    {
        "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}],
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/app"}],
    },
    [{"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}}],
)


class Scene:
    """A supervisor, the configurations it is given, and what its process and it say."""

    def __init__(self, root: Any, folder: Path, script: str, options: dict[str, Any]) -> None:
        self.output = folder / "output"
        self.said: list[str] = []
        self.announced: list[str] = []
        self._queue: asyncio.Queue[ContainerConfiguration | Exception] = asyncio.Queue()
        chosen = {
            "command": ("sh", "-c", f"exec >> {self.output}; {script}"),
            "debounce": 0.0,
            "wait": 30.0,
            **options,
        }
        self.supervisor = Supervisor(
            root, RunOptions(**chosen), say=self.said.append, announce=self.announced.append
        )

    async def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        while True:
            given = await self._queue.get()
            if isinstance(given, Exception):
                raise given
            yield given

    def give(self, **data: str) -> None:
        self._queue.put_nowait(resolved(SUBJECT, config_map("settings", **data)))

    def give_nothing(self) -> None:
        self._queue.put_nowait(resolved(SUBJECT))

    def fail(self, error: Exception) -> None:
        self._queue.put_nowait(error)

    def start(self) -> asyncio.Task[int]:
        return asyncio.create_task(self.supervisor.run(self))

    async def until(self, reached: Callable[[], bool]) -> None:
        async with within(30):
            while not reached():  # noqa: ASYNC110 - another process writes what is waited for
                await asyncio.sleep(0.01)

    async def until_output(self, text: str) -> None:
        await self.until(lambda: self.output.exists() and text in self.output.read_text())

    async def until_said(self, text: str) -> None:
        await self.until(lambda: any(text in each for each in self.said))


Start = Callable[..., Scene]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Start]:
    @contextmanager
    def rooted() -> Iterator[Any]:
        with private_root(tmp_path / "root", []) as root:
            yield root

    with rooted() as root:
        yield lambda script, **options: Scene(root, tmp_path, script, options)


async def test_the_code_of_the_process_is_the_result(scene: Start) -> None:
    subject = scene('test "$A" = 1 && exit 7')
    subject.give(a="1")

    assert await subject.start() == 7


async def test_what_a_process_starts_with_is_announced_once(scene: Start, tmp_path: Path) -> None:
    subject = scene("echo $A; sleep 30")
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("1")

    subject.give(a="2")
    await subject.until_output("2")

    subject.supervisor.heard(signal.SIGTERM)
    await running
    assert subject.announced == [f"1 variable, 1 file, REFLET_ROOT={tmp_path / 'root'}"]


async def test_a_change_restarts_and_a_signal_ends(scene: Start) -> None:
    subject = scene(POLITE)
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up 1")

    subject.give(a="2")
    await subject.until_output("up 2")
    subject.supervisor.heard(signal.SIGTERM)

    assert await running == 5
    assert subject.said == ["changed: variable A, file /etc/app/a; restarting"]


async def test_another_version_of_the_same_values_is_nothing(scene: Start) -> None:
    subject = scene(POLITE)
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up 1")

    subject.give(a="1")
    subject.give(a="1", b="2")
    await subject.until_said("changed: file /etc/app/b")
    subject.supervisor.heard(signal.SIGTERM)
    await running

    assert subject.output.read_text() == "up 1\n"


async def test_a_signal_tells_of_a_change_and_files_are_there_before_it(scene: Start) -> None:
    script = f"trap 'cat $REFLET_ROOT/etc/app/a; exit 3' USR1; echo up; {LOOP}"
    subject = scene(script, on_change=SignalOnChange(signal.SIGUSR1))
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up")

    subject.give(a="new")

    assert await running == 3
    assert subject.output.read_text() == "up\nnew"


async def test_files_only_is_files_only_and_is_told_once(scene: Start) -> None:
    subject = scene(POLITE, on_change=FilesOnChange())
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up 1")

    subject.give(a="2")
    await subject.until_said("only a restart brings variable A")
    subject.give(a="2", b="1")
    await subject.until_said("file /etc/app/b")
    subject.supervisor.heard(signal.SIGTERM)
    await running

    assert len(subject.said) == 2


async def test_files_that_could_not_be_written_are_written_later_and_then_told_of(
    scene: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = MountTree.write
    failures: list[VolumeError] = []

    def write_or_fail(self: MountTree, contents: Mapping[str, VolumeContents]) -> None:
        if failures:
            raise failures.pop()
        write(self, contents)

    monkeypatch.setattr(MountTree, "write", write_or_fail)
    monkeypatch.setattr(supervisor, "FIRST_REWRITE", 0.01)
    script = f"trap 'cat $REFLET_ROOT/etc/app/a' HUP; echo up; {LOOP}"
    subject = scene(script, on_change=SignalOnChange(signal.SIGHUP))
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up")

    failures += [VolumeError("/tmp/x: no space left on device")] * 2
    subject.give(a="new")
    await subject.until_output("new")

    running.cancel()
    await asyncio.wait({running})
    assert subject.said == [
        "warning: /tmp/x: no space left on device; the files stay as they are",
        "changed: variable A, file /etc/app/a; sending SIGHUP",
    ]


async def test_a_refused_configuration_leaves_the_process_alone_and_is_told_once(
    scene: Start,
) -> None:
    subject = scene(POLITE)
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up 1")

    subject.give_nothing()
    await subject.until_said('configmap "settings" not found; the process keeps what it has')
    subject.give_nothing()
    subject.give(a="2")
    await subject.until_output("up 2")
    subject.supervisor.heard(signal.SIGTERM)
    await running

    assert len([text for text in subject.said if "not found" in text]) == 1


async def test_a_source_that_fails_leaves_the_process_alone(scene: Start) -> None:
    subject = scene(POLITE)
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("up 1")

    subject.fail(RefletError("no more"))
    await subject.until_said("warning: no more; the process keeps what it has")
    subject.supervisor.heard(signal.SIGTERM)

    assert await running == 5


@pytest.mark.parametrize("error", [RefletError("never"), RuntimeError("can't start new thread")])
async def test_a_source_that_fails_at_once_is_the_callers(scene: Start, error: Exception) -> None:
    subject = scene("exit 0")
    subject.fail(error)

    with pytest.raises(type(error)) as raised:
        await subject.start()

    assert raised.value is error


async def test_what_is_missing_is_waited_for(scene: Start) -> None:
    subject = scene("exit 0")
    subject.give_nothing()
    running = subject.start()
    await subject.until_said('waiting: MountVolume.SetUp failed for volume "settings"')

    subject.give(a="1")

    assert await running == 0


async def test_what_is_missing_for_too_long_is_refused(scene: Start) -> None:
    subject = scene("exit 0", wait=0.0)
    subject.give_nothing()

    with pytest.raises(ContainerRefused, match='configmap "settings" not found'):
        await subject.start()


async def test_told_to_end_before_there_is_a_process_it_ends(scene: Start) -> None:
    subject = scene("exit 0")
    running = subject.start()
    await asyncio.sleep(0)

    subject.supervisor.heard(signal.SIGINT)

    assert await running == 130


async def test_the_loop_goes_on_while_files_are_written(
    scene: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told to end meanwhile, it starts nothing."""
    has_begun, may_end = threading.Event(), threading.Event()
    went_on: list[bool] = []
    write = MountTree.write

    def slow(tree: MountTree, volumes: Mapping[str, VolumeContents]) -> None:
        has_begun.set()
        went_on.append(may_end.wait(10))
        write(tree, volumes)

    monkeypatch.setattr(MountTree, "write", slow)
    subject = scene("echo started")
    subject.give(a="1")
    running = subject.start()
    await asyncio.to_thread(has_begun.wait)

    subject.supervisor.heard(signal.SIGTERM)
    may_end.set()

    assert await running == 143
    assert went_on == [True]
    assert not subject.output.exists()


async def test_a_process_that_fails_is_started_again_with_back_off(scene: Start) -> None:
    subject = scene("echo up; exit 3", restart=RestartPolicy.ON_FAILURE)
    subject.give(a="1")
    running = subject.start()
    await subject.until_said("the process ended with code 3; it is started again in 10 s")

    subject.supervisor.heard(signal.SIGTERM)

    assert await running == 143
    assert subject.output.read_text() == "up\nup\n"


async def test_a_change_ends_the_back_off(scene: Start) -> None:
    script = 'echo up $A; test "$A" = good || exit 3'
    subject = scene(script, restart=RestartPolicy.ON_FAILURE)
    subject.give(a="bad")
    running = subject.start()
    await subject.until_said("started again in 10 s")

    subject.give(a="good")

    assert await running == 0
    assert subject.output.read_text() == "up bad\nup bad\nup good\n"


async def test_what_cannot_be_started_is_the_callers(scene: Start, tmp_path: Path) -> None:
    subject = scene("", command=("/no/such/command",))
    subject.give(a="1")

    with pytest.raises(NotStarted):
        await subject.start()


async def test_cancelled_it_leaves_nothing_running(scene: Start) -> None:
    subject = scene("echo $$; exec sleep 300")
    subject.give(a="1")
    running = subject.start()
    await subject.until_output("\n")

    running.cancel()
    await asyncio.wait((running,))

    assert running.cancelled()


async def test_a_process_with_a_folder_of_its_own_runs_there(scene: Start, tmp_path: Path) -> None:
    subject = scene("", command=())
    container = {"command": ["sh", "-c", f"pwd > {subject.output}"], "workingDir": "/usr"}
    subject._queue.put_nowait(resolved(pod(container)))

    assert await subject.start() == 0
    assert subject.output.read_text() == "/usr\n"


async def test_a_folder_that_is_not_here_is_told(scene: Start, tmp_path: Path) -> None:
    subject = scene("", command=())
    subject._queue.put_nowait(resolved(pod({"command": ["true"], "workingDir": "/no/such"})))

    assert await subject.start() == 0
    assert subject.said == ["note: there is no /no/such here, so it runs in the current folder"]
