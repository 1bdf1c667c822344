"""The harness itself: a runtime that comes up, fails on demand, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.containers.containerd import BUSYBOX, Containerd, ContainerdFailed
from tests.containers.images import PATH, busybox_image
from tests.containers.registry import Registry, Scheme
from tests.patience import Deadline

PROGRAM = """
import sys
from tests.containers.containerd import Containerd
from tests.containers.test_containerd import run_container

runtime = Containerd().__enter__()
run_container(runtime, "left")
print(runtime.name, runtime.folder, *runtime.processes(), flush=True)
sys.stdin.read()
"""


def run_container(runtime: Containerd, name: str) -> None:
    """Run a container that does not end, from inside: it has fifos there."""
    ctr = [str(runtime.programs["ctr"]), "--address", f"{runtime.folder}/containerd.sock"]
    flags = ["--detach", "--null-io", "--runc-binary", str(runtime.programs["runc"])]
    command = [*ctr, "--namespace", "k8s.io", "run", *flags, BUSYBOX, name, "sleep", "1000"]
    runtime.run(f"run-{name}", command)
    while (code := runtime.exit_code(f"run-{name}")) is None:
        time.sleep(0.02)
    assert code == 0, runtime.log(f"run-{name}")


def traces(name: str, folder: Path, processes: list[int]) -> list[str]:
    """Find what a runtime left: cgroups, its bridge, its files, running processes."""
    cgroups = Path("/sys/fs/cgroup")
    places = [*cgroups.glob(name), *cgroups.glob(f"*/{name}"), Path("/sys/class/net", name), folder]
    stats = [Path(f"/proc/{process}/stat") for process in processes]
    return [
        *(str(place) for place in places if place.exists()),
        # The machine's first process may not have collected it yet: Z.
        *(str(stat) for stat in stats if stat.exists() and ") Z " not in stat.read_text()),
    ]


def test_nothing_is_left_after_the_block() -> None:
    with Containerd() as runtime:
        run_container(runtime, "left")
        processes = runtime.processes()
        before = traces(runtime.name, runtime.folder, processes)

    assert len(processes) == 1
    assert len(before) > 3
    assert traces(runtime.name, runtime.folder, processes) == []


def test_a_killed_program_leaves_nothing() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        name, folder, *processes = program.stdout.readline().split()
        program.send_signal(signal.SIGKILL)
        # The folder is the last to go.
        deadline = Deadline(30)
        while Path(folder).exists() and not deadline.passed:
            time.sleep(0.02)

    assert traces(name, Path(folder), [int(process) for process in processes]) == []


def test_containers_outlive_a_daemon_that_is_killed(containerd: Containerd) -> None:
    run_container(containerd, "survivor")
    before = containerd.processes()

    containerd.kill()
    containerd.start()

    assert containerd.processes() == before
    containerd.ctr("tasks", "kill", "--signal", "KILL", "survivor")
    containerd.ctr("tasks", "delete", "--force", "survivor")
    containerd.ctr("containers", "delete", "survivor")


def test_a_paused_daemon_does_not_answer_and_goes_on_afterwards(containerd: Containerd) -> None:
    containerd.pause()
    try:
        with pytest.raises(ContainerdFailed, match="deadline"):
            containerd.ctr("--timeout", "100ms", "version")
    finally:
        containerd.resume()

    assert containerd.containers() == []


@pytest.mark.parametrize("scheme", ["basic", "bearer"])
def test_an_account_pulls_what_others_may_not(containerd: Containerd, scheme: Scheme) -> None:
    with Registry(scheme=scheme) as registry:
        # An image of its own: one with two names would be shown by either in other tests.
        own = busybox_image(containerd.programs, environment=(PATH, "SHOP=private"))
        image = registry.push("shop/web:1", own)
        registry.accounts = {"ada": "lovelace"}
        pull = ["images", "pull", "--local", "--plain-http"]

        with pytest.raises(ContainerdFailed, match=r"auth"):
            containerd.ctr(*pull, image)
        with pytest.raises(ContainerdFailed, match="401 Unauthorized"):
            containerd.ctr(*pull, "--user", "ada:babbage", image)
        containerd.ctr(*pull, "--user", "ada:lovelace", image)

    assert image in containerd.ctr("images", "list", "--quiet").split()
    assert any(asked.endswith("200 ada") for asked in registry.requests)


def test_what_the_registry_lacks_is_not_found(containerd: Containerd, registry: Registry) -> None:
    image = registry.push("shop/web:1", busybox_image(containerd.programs))
    registry.remove("shop/web:1")

    with pytest.raises(ContainerdFailed, match=f"{image}: not found"):
        containerd.ctr("images", "pull", "--local", "--plain-http", image)


def test_an_image_of_the_same_files_has_the_same_digest(containerd: Containerd) -> None:
    first, second = (busybox_image(containerd.programs) for _ in range(2))
    other = busybox_image(containerd.programs, environment=[PATH, "LEVEL=debug"])

    assert first.digest == second.digest != other.digest
