"""A private containerd, for as long as a test lasts; afterwards nothing of it is on the machine.

Owns: the daemon, its configuration, and where it and its containers live: in an enclosure (see the
script of that name) with mount and cgroup namespaces and a bridge of its own, on the machine's
network, so that pods, a registry on loopback and an API server on loopback reach each other.  All
of it is gone after the ``with`` block, and also when the program dies in whatever way.  Must not
know CRI, whose clients are what is tested, nor pytest: benchmarks use it too.

::

    with Containerd() as runtime, Registry() as registry:
        runtime.trust(registry)                                # pulls from it, without TLS
        runtime.import_image("localhost/web:1", busybox_image(runtime.programs))
        client = …(runtime.endpoint)                           # unix:///tmp/…/containerd.sock

``localhost/pause:1`` and ``localhost/busybox:1`` are there from the start, and so is a second
runtime handler, ``other``, which is runc as well.  Pods get addresses on
``runtime.subnet``, the machine is ``runtime.gateway`` to them; pods on the host network are on the
machine's.  Faults: :meth:`pause` and :meth:`resume` (it hangs), :meth:`kill` (a crash; containers
go on running), :meth:`start` (it is back, and finds them), :meth:`restart`.  A test that looks for
leftovers asks :meth:`containers` and :meth:`processes`; a program that must see what containerd
sees, a kubelet above all, is started with :meth:`run`.
"""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.containers.images import Image, busybox_image, pause_image
from tests.containers.programs import HERE, Programs, find_programs
from tests.containers.registry import Registry
from tests.patience import Deadline
from tests.real.process_keeper import ProcessKeeper

PAUSE: Final = "localhost/pause:1"
BUSYBOX: Final = "localhost/busybox:1"
# CRI shows an image once it has seen the event of its arrival, and marks it then.
SEEN_BY_CRI: Final = "io.cri-containerd.image=managed"

POLL_INTERVAL: Final = 0.02  # seconds between two looks at a daemon that is starting
STOP_PATIENCE: Final = 5.0  # seconds from asking it to end until it is killed
LOG_LINES: Final = 30  # shown when a start fails

# restrict_oom_score_adj: a machine without CAP_SYS_RESOURCE may not make a process less likely to
# be killed than its parent, which a pod's first process would be: runc ends without saying why.
CONFIG: Final = """\
version = 3
root = "{folder}/root"
state = "{folder}/state"
[grpc]
  address = "{folder}/containerd.sock"
[ttrpc]
  address = "{folder}/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{pause}"
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = "{folder}/registries"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = "{programs}/runc"
        SystemdCgroup = false
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.other]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.other.options]
        BinaryName = "{programs}/runc"
        SystemdCgroup = false
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{programs}/cni"]
    conf_dir = "{folder}/networks"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
"""
REGISTRY: Final = """\
server = "http://{address}"
[host."http://{address}"]
  capabilities = ["pull", "resolve"]
"""


class ContainerdFailed(Exception):
    """The daemon did not start, or refused; the message ends with the last lines of its log."""


class Containerd:
    """containerd with runc and a pod network.  The attributes are there inside the ``with``."""

    name: str
    folder: Path
    endpoint: str
    subnet: ipaddress.IPv4Network
    gateway: ipaddress.IPv4Address
    process: int

    def __init__(self, programs: Programs | None = None, *, patience: float = 30.0) -> None:
        self.programs = programs or find_programs()
        self._patience = patience
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        self.name = f"reflet{secrets.token_hex(3)}"  # an interface's name: 15 characters at most
        self.subnet = free_subnet()
        self.gateway = next(self.subnet.hosts())
        self._enclosure = ["/bin/sh", str(HERE / "enclosure")]
        with ExitStack() as undo:
            sweep = [*self._enclosure, "sweep", self.name]
            keeper = ProcessKeeper(prefix="reflet-containerd-", afterwards=sweep)
            self._keeper = undo.enter_context(keeper)
            self.folder = keeper.folder
            self.endpoint = f"unix://{self.folder}/containerd.sock"
            self._write_configuration()
            self._hold()
            self.start()
            self.import_image(PAUSE, pause_image(self.programs))
            self.import_image(BUSYBOX, busybox_image(self.programs))
            self._closing = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    # Life, and faults

    def start(self) -> None:
        """Start the daemon and return when its plugins answer."""
        command = [str(self.programs["containerd"]), "--config", str(self.folder / "config.toml")]
        self.process = self.run("containerd", command)
        self._wait_until("containerd answers", "containerd", self._answers)

    def stop(self) -> None:
        """End the daemon; containers go on running."""
        self._keeper.stop("containerd", patience=STOP_PATIENCE)

    def kill(self) -> None:
        """Kill the daemon with -9; containers go on running."""
        self._keeper.signal("containerd", signal.SIGKILL)
        self._keeper.stop("containerd", patience=STOP_PATIENCE)

    def restart(self) -> None:
        """End and start the daemon."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Make the daemon hang: its socket takes connections and nothing answers."""
        self._keeper.signal("containerd", signal.SIGSTOP)

    def resume(self) -> None:
        """Let the daemon go on where it hung."""
        self._keeper.signal("containerd", signal.SIGCONT)

    # Images

    def import_image(self, name: str, image: Image) -> None:
        """Put an image into the runtime under a name, and return when CRI shows it."""
        archive = self.folder / f"{secrets.token_hex(4)}.tar"
        archive.write_bytes(image.archive(name))
        self.ctr("images", "import", "--local", "--no-unpack", str(archive))
        archive.unlink()
        self._wait_until(
            f"CRI shows {name}",
            "containerd",
            lambda: SEEN_BY_CRI in self.ctr("images", "list", f"name=={name}"),
        )

    def trust(self, registry: Registry) -> None:
        """Make the runtime talk plain HTTP to a registry."""
        folder = self.folder / "registries" / registry.address
        folder.mkdir(parents=True)
        (folder / "hosts.toml").write_text(REGISTRY.format(address=registry.address))

    # Looking at it from the side

    def ctr(self, *arguments: str) -> str:
        """Ask with containerd's own tool, in the namespace of CRI; return what it prints."""
        command = [str(self.programs["ctr"]), "--address", f"{self.folder}/containerd.sock"]
        asked = subprocess.run(
            [*command, "--namespace", "k8s.io", *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=self._patience,
        )
        if asked.returncode != 0:
            raise ContainerdFailed(f"ctr {' '.join(arguments)}: {asked.stderr.strip()}")
        return asked.stdout

    def containers(self) -> list[str]:
        """List the ids of all containers that the runtime knows, pods' first processes too."""
        return self.ctr("containers", "list", "--quiet").split()

    def processes(self) -> list[int]:
        """List what runs in containers: the machine's process ids."""
        known = self.ctr("tasks", "list").splitlines()[1:]
        return [int(line.split()[1]) for line in known if line.split()[1] != "0"]

    def run(self, name: str, command: Sequence[str]) -> int:
        """Start a program beside containerd; its output goes to ``<name>.log`` in ``folder``.

        It sees the mounts and cgroups that containerd sees, and ends at the latest with it.
        Return its process id.
        """
        return self._keeper.run(
            name, [*self._enclosure, "enter", self.name, str(self._holder), *command]
        )

    def end(self, name: str, *, patience: float = STOP_PATIENCE) -> None:
        """End a program that :meth:`run` started."""
        self._keeper.stop(name, patience=patience)

    def exit_code(self, name: str) -> int | None:
        """Say how a program that :meth:`run` started ended; ``None`` while it runs."""
        return self._keeper.exit_code(name)

    def log(self, name: str = "containerd") -> str:
        """Return the last lines of a program's log."""
        lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])

    # Inside

    def _write_configuration(self) -> None:
        config = CONFIG.format(folder=self.folder, programs=self.programs.folder, pause=PAUSE)
        (self.folder / "config.toml").write_text(config)
        networks = self.folder / "networks"
        networks.mkdir()
        # The bridge has its address already, from the enclosure: the plugin, as a gateway, would
        # turn on forwarding for the whole machine.
        bridge = {
            "type": "bridge",
            "bridge": self.name,
            "ipam": {
                "type": "host-local",
                "ranges": [[{"subnet": str(self.subnet), "gateway": str(self.gateway)}]],
                "dataDir": str(self.folder / "addresses"),
            },
        }
        (networks / "10-pods.conflist").write_text(
            json.dumps({"cniVersion": "1.0.0", "name": self.name, "plugins": [bridge]})
        )

    def _hold(self) -> None:
        address = f"{self.gateway}/{self.subnet.prefixlen}"
        program = str(self.programs["pause"])
        self._holder = self._keeper.run(
            "holder", [*self._enclosure, "hold", self.name, address, program]
        )
        self._wait_until("the namespaces are there", "holder", self._holds)

    def _holds(self) -> bool:
        """Look whether the holder has become pause, which it does at the end of its script."""
        return Path(f"/proc/{self._holder}/exe").readlink() == self.programs["pause"].resolve()

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(f"{self.folder}/containerd.sock")
            except OSError:
                return False
        try:
            self.ctr("plugins", "list", "id==cri")
        except ContainerdFailed:
            return False
        return True

    def _wait_until(self, goal: str, program: str, reached: Callable[[], bool]) -> None:
        deadline = Deadline(self._patience)
        while not reached():
            if (code := self._keeper.exit_code(program)) is not None:
                raise ContainerdFailed(
                    f"{program} ended with {code} before {goal}\n{self.log(program)}"
                )
            if deadline.passed:
                raise ContainerdFailed(f"not in {self._patience:g} s: {goal}\n{self.log(program)}")
            time.sleep(POLL_INTERVAL)


def free_subnet() -> ipaddress.IPv4Network:
    """Choose 254 addresses that no route of this machine leads to."""
    shown = subprocess.run(
        ["ip", "-json", "-4", "route"],
        check=True,
        capture_output=True,
        env={"PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"},
    )
    taken = [
        ipaddress.IPv4Network(route["dst"])
        for route in json.loads(shown.stdout)
        if route["dst"] != "default"
    ]
    while True:
        third, fourth = secrets.randbelow(64), secrets.randbelow(256)
        chosen = ipaddress.IPv4Network(f"10.{128 + third}.{fourth}.0/24")
        if not any(chosen.overlaps(network) for network in taken):
            return chosen
