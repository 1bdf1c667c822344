"""What this machine is and what it has left: name, size, memory, disk, processes, addresses.

Reads the system.  Pods share the network of the machine, so that its addresses are theirs, too.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reflet.processes.process_table import boot_id, process_entries
from reflet.runtime.darwin_sysctl import sysctl_number
from reflet.runtime.platforms import HERE

OURSELVES = "127.0.0.1"

PROC: Final = Path("/proc")
OS_RELEASE: Final = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
MACHINE_ID: Final = Path("/etc/machine-id")
# An address that is documentation's own: a route to it is looked up, and nothing is sent.
_SOMEWHERE: Final = (("192.0.2.1", 9), ("2001:db8::1", 9))
_KIBI: Final = 1024
_ARCHITECTURES: Final[Mapping[str, str]] = {"x86_64": "amd64", "aarch64": "arm64"}


def node_addresses(given: str, server: str) -> tuple[str, ...]:
    """The address that was *given*, else those by which the API server at *server* reaches us."""
    if given:
        return (given,)
    host = urlsplit(server).hostname or ""
    if host == "localhost" or _is_loopback(host):
        # The server is on this machine, and so is everybody who asks for us.
        return (OURSELVES,)
    return machine_addresses()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What does not change while the agent runs."""

    host_name: str
    architecture: str
    kernel: str
    system: str
    boot_id: str
    machine_id: str
    cpus: int
    memory: int  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """What there is of what can run out, as shares of the whole between 0 and 1."""

    memory_free: int  # bytes
    disk_free: float
    disk_size: int  # bytes
    processes_free: float


def read_machine() -> Machine:
    """Look at the machine."""
    return Machine(
        host_name=socket.gethostname().lower(),
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        kernel=platform.release(),
        system=_system_name(),
        boot_id=_text(PROC / "sys/kernel/random/boot_id") if HERE.proc else boot_id(),
        machine_id=_text(MACHINE_ID),
        cpus=_cpus(),
        memory=_memory().get("MemTotal", 0),
    )


def read_pressure(folder: Path) -> Pressure:
    """Look how much is left; the disk is that of *folder*."""
    disk = os.statvfs(folder)
    running, limit = _processes()
    return Pressure(
        memory_free=_memory().get("MemAvailable", 0),
        disk_free=disk.f_bavail / max(1, disk.f_blocks),
        disk_size=disk.f_blocks * disk.f_frsize,
        processes_free=max(0.0, 1 - running / limit),
    )


def machine_addresses() -> tuple[str, ...]:
    """The addresses from which this machine reaches others, of each family one.

    Nothing is sent for it.  A machine without a network has the address of itself only.
    """
    found = [
        address
        for family, somewhere in zip((socket.AF_INET, socket.AF_INET6), _SOMEWHERE, strict=True)
        if (address := _own_address(family, somewhere))
    ]
    return tuple(found) or ("127.0.0.1",)


def _own_address(family: socket.AddressFamily, somewhere: tuple[str, int]) -> str:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(somewhere)
            return str(probe.getsockname()[0])
    except OSError:
        return ""


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processes() -> tuple[int, int]:
    """How many processes there are, and how many there can be."""
    if not HERE.proc:
        return sum(1 for _ in process_entries()), sysctl_number("kern.maxproc")
    running = sum(name.isdecimal() for name in os.listdir(PROC))  # noqa: PTH208 - names only
    return running, int(_text(PROC / "sys/kernel/pid_max") or 32768)


def _memory() -> Mapping[str, int]:
    """Sizes in bytes by the kernel's names."""
    if not HERE.proc:
        size = sysctl_number("hw.memsize")
        # What `memory_pressure` prints: the share that can be had, in per cent.
        return {
            "MemTotal": size,
            "MemAvailable": size * sysctl_number("kern.memorystatus_level") // 100,
        }
    sizes: dict[str, int] = {}
    for line in _text(PROC / "meminfo").splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdecimal():
            sizes[name] = int(number[0]) * _KIBI
    return sizes


def _system_name() -> str:
    for path in OS_RELEASE:
        for line in _text(path).splitlines():
            name, _, value = line.partition("=")
            if name == "PRETTY_NAME":
                return value.strip('"')
    return f"{HERE.name} {platform.mac_ver()[0]}".strip()


def _text(path: Path) -> str:
    """What a file says, nothing where this machine has no such file for us.

    Any other error is one: a look without descriptors must not find a machine without memory.
    """
    try:
        return path.read_text(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
