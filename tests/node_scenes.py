"""An agent on a server, and what tests ask of both.

Owns: starting an agent in this process or in one of its own, and waiting for what it brings
about.  Must not know which server it is.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import reflet
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import ContainerStateTerminated, ContainerStateWaiting, Pod
from reflet.api.core.small_kinds import Event
from reflet.cluster import Cluster
from reflet.errors import NotFound
from reflet.node.agent import NodeAgent
from reflet.node.options import NodeOptions
from reflet.node.pods.admission import RunAs
from reflet.node.root_lock import memory_name
from reflet.node.shim.container_records import records_below
from reflet.processes.isolation_check import why_not_isolated
from reflet.processes.process_table import process_entries
from reflet.volumes.mounts import memory_candidates
from tests.patience import Deadline, within

NODE: Final = "worker-1"
PATIENCE: Final = 30.0  # seconds for what takes a moment
A_LOOK: Final = 0.01  # seconds between two looks
SLEEP: Final = ("sh", "-c", "while :; do sleep 0.05; done")


@cache
def can_isolate() -> bool:
    """Whether containers have namespaces of their own in these tests: wherever they can."""
    return why_not_isolated() is None


def node_options(root: Path, **changes: Any) -> NodeOptions:
    """The settings of an agent that runs commands as whoever runs the tests, in short steps."""
    settings: dict[str, Any] = {
        "name": NODE,
        "root": root / "node",
        "run": True,
        "user": RunAs(os.geteuid(), os.getegid()),
        "isolation": can_isolate(),
        "health": ("127.0.0.1", 0),
        "retry": 0.5,
        "backoff_first": 0.3,
        "backoff_ceiling": 2.0,
    }
    return NodeOptions(**(settings | changes))


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def declared(*ports: int) -> dict[str, Any]:
    """The part of a container that says on which ports it listens."""
    return {"ports": [{"containerPort": port} for port in ports]}


def pod_document(
    name: str,
    command: Sequence[str] = SLEEP,
    *,
    container: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A pod of the node with one container; *container* and *spec* say more."""
    main = {"name": "main", "image": "none", "command": list(command), **(container or {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {
            "nodeName": NODE,
            "terminationGracePeriodSeconds": 2,
            "automountServiceAccountToken": False,
            "containers": [main],
            **spec,
        },
    }


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": data,
    }


class Scene:
    """A namespace of a server, seen by its administrator."""

    agent: NodeAgent

    def __init__(self, cluster: Cluster, root: Path, namespace: str = "default") -> None:
        self.cluster = cluster
        self.root = root
        self.namespace = namespace
        self.pods = cluster.resource(Pod, namespace=namespace)
        self.config_maps = cluster.resource(ConfigMap, namespace=namespace)
        self.secrets = cluster.resource(Secret, namespace=namespace)

    async def pod(self, name: str, wanted: Callable[[Pod], Any]) -> Pod:
        """The pod, once it is as *wanted*."""
        deadline = Deadline(PATIENCE)
        pod = Pod()
        while not deadline.passed:
            pod = await self.pods.get(name)
            if wanted(pod):
                return pod
            await asyncio.sleep(A_LOOK)
        raise AssertionError(f"the pod did not become what was wanted: {pod.status}")

    async def gone(self, name: str) -> None:
        """Return once the server has no such pod."""
        async with within(PATIENCE):
            while True:
                try:
                    await self.pods.get(name)
                except NotFound:
                    return
                await asyncio.sleep(A_LOOK)

    async def events(self, name: str, *reasons: str) -> list[Event]:
        """The events of a pod, once there is one of each of these reasons."""
        events = self.cluster.resource(Event, namespace=self.namespace)
        deadline = Deadline(PATIENCE)
        found: list[Event] = []
        while not deadline.passed:
            listing = await events.list()
            found = [each for each in listing.items if each.involved_object.name == name]
            if set(reasons) <= {each.reason for each in found}:
                return found
            await asyncio.sleep(A_LOOK)
        raise AssertionError(f"no such events: {[(each.reason, each.message) for each in found]}")

    def folder(self, pod: Pod) -> Path:
        """The pod's folder on its node."""
        return self.root / "node" / "pods" / pod.metadata.uid

    def container_root(self, pod: Pod, container: str = "main") -> Path:
        """Where a container that runs finds its mounts, seen from outside."""
        return container_root(self.root, pod.metadata.uid, container)

    def log(self, pod: Pod, container: str = "main", attempt: int = 0) -> str:
        """What a life of a container wrote, without times and as it came."""
        path = self.folder(pod) / "containers" / container / f"{attempt}.log"
        if not path.exists():
            return ""
        lines = (line.split(" ", 3) for line in path.read_text().splitlines())
        return "".join(text + ("" if flag == "P" else "\n") for _, _, flag, text in lines)


async def until(reached: Callable[[], Any], *, patience: float = PATIENCE) -> None:
    """Look again and again."""
    deadline = Deadline(patience)
    while not reached():
        assert not deadline.passed, "it did not happen in time"
        await asyncio.sleep(A_LOOK)


async def until_async(reached: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again."""
    deadline = Deadline(PATIENCE)
    while not await reached():
        assert not deadline.passed, "it did not happen in time"
        await asyncio.sleep(A_LOOK)


def end_of(pod: Pod) -> ContainerStateTerminated:
    """How the first container ended, now or in the life before."""
    status = pod.status.container_statuses[0]
    ended = status.state.terminated or status.last_state.terminated
    assert ended is not None, status
    return ended


def waiting_of(pod: Pod) -> ContainerStateWaiting:
    """Why the first container waits."""
    waiting = pod.status.container_statuses[0].state.waiting
    assert waiting is not None, pod.status
    return waiting


def is_running(pod: Pod) -> bool:
    statuses = pod.status.container_statuses
    return bool(statuses) and all(each.state.running is not None for each in statuses)


def waits_for(reason: str) -> Callable[[Pod], bool]:
    """Whether the first container waits for this reason."""

    def check(pod: Pod) -> bool:
        statuses = pod.status.container_statuses
        waiting = statuses[0].state.waiting if statuses else None
        return waiting is not None and waiting.reason == reason

    return check


def container_root(root: Path, uid: str, container: str = "main") -> Path:
    """The root of a container that runs; FileNotFoundError when none does."""
    for record in records_below(root / "node" / "pods"):
        if (record.uid, record.name, record.finished_at) == (uid, container, None):
            if record.is_isolated:
                return Path(f"/proc/{record.pid}/root")
            return Path(record.folder, "root")
    raise FileNotFoundError(f"container {container} of {uid} does not run")


def processes_below(root: Path) -> list[int]:
    """Every process of the containers of the agent that keeps everything below *root*.

    One with a root of its own has a scratch folder there, whatever became of its environment.  The
    end of the path is what a mount table has of it, wherever it is mounted; so much of it as tells
    two runs of the tests apart.
    """
    own = "/".join(("", *root.parts[-3:], "node/pods/")).encode()
    found = []
    for entry in process_entries():
        try:
            mounts = Path(f"/proc/{entry.pid}/mountinfo").read_bytes()
            environment = Path(f"/proc/{entry.pid}/environ").read_bytes()
        except OSError:
            continue
        if own in mounts or f"REFLET_ROOT={root}".encode() in environment:
            found.append(entry.pid)
    return found


@asynccontextmanager
async def running_agent(cluster: Cluster, root: Path, **changes: Any) -> AsyncIterator[NodeAgent]:
    """An agent in this process, which leaves nothing in memory when it ends its containers."""
    options = node_options(root, **changes)
    async with NodeAgent(cluster, options) as agent:
        yield agent
    assert options.keep_running or not left_in_memory(root)


def left_in_memory(root: Path) -> list[Path]:
    """What the agent that keeps everything below *root* has in memory, wherever that is."""
    user = os.geteuid()
    name = f"reflet-{user}-{memory_name(root / 'node')}"
    folders = [place / name for place in memory_candidates(os.environ, user)]
    return [path for path in folders if path.exists()]


class AgentProcess:
    """An agent in a process of its own, which can be killed; as another *user* if one is named."""

    def __init__(
        self, kubeconfig: Path, root: Path, *arguments: str, user: int | None = None
    ) -> None:
        is_root = os.geteuid() == 0 and user is None
        says = is_root and "--user" not in arguments
        self.command = [
            *(sys.executable if user is None else "python3", "-m", "reflet", "node"),
            *("--name", NODE, "--run", "--root", str(root / "node")),
            *("--kubeconfig", str(kubeconfig), "--health-address", "127.0.0.1:0"),
            *(("--user", "root") if says else ()),
            *(() if can_isolate() or "--no-isolation" in arguments else ("--no-isolation",)),
            *arguments,
        ]
        self._log = root / "agent.log"
        self._settings: dict[str, Any] = {}
        if user is not None:
            self._settings = {
                "env": interpreter_variables() | {"HOME": str(root)},
                "user": user,
                "group": user,
                "extra_groups": [],
            }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self.command, stdout=log, stderr=log, **self._settings)

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Tell it to stop; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        return process.wait(PATIENCE)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def said(self) -> str:
        return self._log.read_text()


def interpreter_variables() -> dict[str, str]:
    """With these, python3 of the system runs what we do, for those who cannot reach ours."""
    paths = [path for path in sys.path if path.endswith(("site-packages", "/src"))]
    paths.append(str(Path(reflet.__file__).parents[1]))
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": ":".join(paths)}


@contextmanager
def agent_process(kubeconfig: Path, root: Path, *arguments: str) -> Iterator[AgentProcess]:
    """An agent process that is ended in order, with all it has, at the end."""
    agent = AgentProcess(kubeconfig, root, *arguments)
    agent.start()
    try:
        yield agent
    finally:
        agent.stop()
    assert not left_in_memory(root)
