from __future__ import annotations

import errno
import os
import platform
import socket
from ipaddress import ip_address
from pathlib import Path

import pytest

from reflet.node.identity import machine
from reflet.node.identity.machine import machine_addresses, read_machine, read_pressure

UNREACHABLE = ("255.255.255.255", 9)  # a broadcast: the kernel refuses it without being asked to
NO_ADDRESS = ("no address at all", 9)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /proc of our own: 2 GiB of memory, half of it free, and 3 of 100 processes."""
    folder = tmp_path / "proc"
    (folder / "sys/kernel/random").mkdir(parents=True)
    (folder / "sys/kernel/random/boot_id").write_text("8f2c\n")
    (folder / "sys/kernel/pid_max").write_text("100\n")
    (folder / "meminfo").write_text(
        "MemTotal:        2097152 kB\nMemAvailable:    1048576 kB\nHugePages_Total:\nnonsense\n"
        "Odd: x kB\n"
    )
    for name in ("1", "22", "333"):
        (folder / name).mkdir()
    monkeypatch.setattr(machine, "PROC", folder)
    return folder


def releases(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    monkeypatch.setattr(machine, "OS_RELEASE", paths)


# What does not change


def test_memory_is_told_in_bytes(proc: Path) -> None:
    assert read_machine().memory == 2 * 2**30


def test_the_boot_is_told_without_its_end_of_line(proc: Path) -> None:
    assert read_machine().boot_id == "8f2c"


def test_a_machine_whose_kernel_tells_nothing_is_told_as_far_as_it_is_known(
    proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (proc / "meminfo").unlink()
    (proc / "sys/kernel/random/boot_id").unlink()
    monkeypatch.setattr(machine, "MACHINE_ID", tmp_path / "none")

    found = read_machine()

    assert (found.memory, found.boot_id, found.machine_id) == (0, "", "")


def test_the_name_of_the_host_is_in_small_letters_as_names_of_nodes_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Laptop.Local")

    assert read_machine().host_name == "laptop.local"


def test_only_processors_that_this_process_may_use_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 7})

    assert read_machine().cpus == 3


@pytest.mark.parametrize(
    ("kernels", "ours"), [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")]
)
def test_the_architecture_has_the_name_that_images_use(
    kernels: str, ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: kernels)

    assert read_machine().architecture == ours


def test_the_system_says_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = tmp_path / "os-release"
    release.write_text('NAME="Debian"\nPRETTY_NAME="Debian 13 (trixie)"\nVERSION=13\n')
    releases(monkeypatch, tmp_path / "none", release)

    assert read_machine().system == "Debian 13 (trixie)"


def test_the_first_file_that_names_the_system_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("PRETTY_NAME=One\n")
    second.write_text("PRETTY_NAME=Two\n")
    releases(monkeypatch, first, second)

    assert read_machine().system == "One"


def test_a_system_without_a_name_has_that_of_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases(monkeypatch, tmp_path / "none")

    assert read_machine().system == platform.system()


# What can run out


def test_a_look_without_descriptors_finds_no_machine_without_memory(
    proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_descriptors(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_text", no_descriptors)

    with pytest.raises(OSError, match="Too many open files"):
        read_pressure(tmp_path)


def test_free_memory_is_what_the_kernel_could_give(proc: Path) -> None:
    assert read_pressure(proc).memory_free == 2**30


def test_processes_are_counted_against_the_kernels_limit(proc: Path) -> None:
    assert read_pressure(proc).processes_free == pytest.approx(0.97)


def test_more_processes_than_the_limit_leave_none_and_not_less(proc: Path) -> None:
    (proc / "sys/kernel/pid_max").write_text("2")

    assert read_pressure(proc).processes_free == 0.0


def test_a_kernel_that_does_not_tell_its_limit_has_the_usual_one(proc: Path) -> None:
    (proc / "sys/kernel/pid_max").unlink()

    assert read_pressure(proc).processes_free == pytest.approx(1 - 3 / 32768)


def test_the_disk_is_that_of_the_folder(
    proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Block size, fragment size, blocks, free, available; what only root may use is not free.
    disk = os.statvfs_result((4096, 1024, 1000, 500, 250, 0, 0, 0, 0, 255))
    disks = {tmp_path: disk}
    monkeypatch.setattr(os, "statvfs", disks.__getitem__)

    found = read_pressure(tmp_path)

    assert (found.disk_free, found.disk_size) == (0.25, 1024 * 1000)


def test_a_disk_without_blocks_has_nothing_free(
    proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = os.statvfs_result((4096, 4096, 0, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: disk)

    assert read_pressure(tmp_path).disk_free == 0.0


# Addresses


def test_a_machine_without_a_network_has_the_address_of_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "_SOMEWHERE", (UNREACHABLE, NO_ADDRESS))

    assert machine_addresses() == ("127.0.0.1",)


def test_an_address_is_the_one_from_which_others_are_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no second family of addresses")
    monkeypatch.setattr(machine, "_SOMEWHERE", (UNREACHABLE, ("::1", 9)))

    assert machine_addresses() == ("::1",)


def test_addresses_are_addresses_whatever_the_network_is() -> None:
    assert all(ip_address(each) for each in machine_addresses())
