"""A node agent that lives through the chaos, with pods that come and go.

Owns: the agent in this process, its pods on the server, and the comparison of statuses, files,
processes and folders with what the server has.  What the pods are is ``tenants``, what no reader
of their files may see ``file_reader``.  Must not know what goes wrong, nor which server it is.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, final

from reflet.api.resources import LEASES, NODES, PODS
from reflet.node.agent import NodeAgent
from reflet.node.identity.node_lease import LEASE_NAMESPACE
from reflet.node.options import RESYNC, RETRY
from reflet.node.pods.dry_run import NOT_RUN
from reflet.node.shim.container_records import ContainerRecord, records_below
from reflet.node.status.container_statuses import CONFIG_ERROR, CONTAINER_CREATING
from tests.faults.file_reader import FileReader
from tests.faults.hurry import RATE, HurriedCluster
from tests.faults.surroundings import Surroundings, Truth
from tests.faults.tenants import (
    KIND_OF_VOLUME,
    REFERRED,
    SCRATCH,
    STARTS,
    Files,
    Tenant,
    number_in,
    tenant,
)
from tests.node_chaos import shims_of
from tests.node_scenes import left_in_memory, node_options, processes_below

TENANTS: Final = 3
MOVES: Final = 3
"""Pods that come or go when it is stirred."""

Document = Mapping[str, Any]


@final
class AgentInhabitant:
    """A node agent, which runs its pods' commands or only says what it would run.

    Its own waits are production's, hurried; processes do not hurry, so they are looked at once
    in a second, as in production.
    """

    def __init__(self, given: Surroundings, strategy: str, *, run: bool) -> None:
        self.name = f"agent, {strategy}, {'runs commands' if run else 'runs nothing'}"
        # Those of its managers, as of others, and two mirrors: of its pods and of services.
        self.reflectors = 2 * (len(REFERRED) + 1) * len(given.namespaces) + 2
        self._given = given
        self._node = f"chaos-{strategy}"
        self._root = given.folder / self._node
        self._cluster = HurriedCluster(given.client.settings)
        self.requests: Sequence[Counter[str]] = (self._cluster.transport.requests,)
        options = node_options(
            self._root,
            name=self._node,
            run=run,
            strategy=strategy,
            retry=RETRY,
            resync=RESYNC,
            relist=RATE,
        )
        self._runs = run
        self._agent = NodeAgent(self._cluster, options, clock=given.clock)
        self._reader = FileReader()
        self._tenants: dict[str, Tenant] = {}
        self._numbers = itertools.count(1)
        self._asked_at: datetime | None = None
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self._sign_off)
            await undo.enter_async_context(self._cluster)
            await undo.enter_async_context(self._agent)
            undo.enter_context(self._reader)
            for number in range(TENANTS):
                await self._let_in(f"{self._node}-{next(self._numbers)}", random.Random(number))
            self._closing = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.__aexit__(kind, error, trace)

    async def _sign_off(self) -> None:
        """Leave nothing on the server, which others use after us."""
        for each in self._tenants.values():
            await self._given.office.remove(PODS, each.namespace, each.name, grace=0)
        await self._given.office.remove(NODES, "", self._node)
        await self._given.office.remove(LEASES, LEASE_NAMESPACE, self._node)

    # Pods that come and go

    async def stir(self, chance: random.Random) -> None:
        """Let pods come, go in peace, vanish, or be replaced by another of the same name."""
        for _ in range(MOVES):
            if len(self._tenants) < TENANTS:
                await self._let_in(f"{self._node}-{next(self._numbers)}", chance)
                continue
            gone = self._tenants.pop(chance.choice(sorted(self._tenants)))
            self._reader.let_go(gone.uid)
            grace = chance.choice((None, None, 0))
            await self._given.office.remove(PODS, gone.namespace, gone.name, grace=grace)
            if grace == 0 and chance.random() < 0.5:
                await self._let_in(gone.name, chance, namespace=gone.namespace)

    async def _let_in(self, name: str, chance: random.Random, *, namespace: str = "") -> None:
        namespaces = [namespace] if namespace else self._given.namespaces
        wanted = tenant(name, namespaces, chance)
        uid = await self._given.office.create(PODS, wanted.namespace, wanted.document(self._node))
        self._given.counts["pods"] += 1
        came = self._tenants[wanted.key] = replace(wanted, uid=uid)
        volumes = [self._volume(came, each) for each in came.volumes]
        starts = self._agent.directories.volume(uid, "emptyDir", SCRATCH) / STARTS
        self._reader.look_after(uid, volumes, starts)

    def _volume(self, pod: Tenant, name: str) -> Path:
        return self._agent.directories.volume(pod.uid, KIND_OF_VOLUME[name], name)

    # What must hold

    def disagreements(self, truth: Truth) -> list[str]:
        """Where statuses, files, processes, folders or the node are not what they must be."""
        there = _pods_of(self._node, truth)
        try:
            records = list(records_below(self._root / "node" / "pods"))
        except FileNotFoundError:
            return ["a pod is just being removed"]
        running = {record.uid: record for record in records if record.finished_at is None}
        found = [f"{key} is not gone" for key in there.keys() - self._tenants.keys()]
        found += [f"{key} is lost" for key in self._tenants.keys() - there.keys()]
        for key in self._tenants.keys() & there.keys():
            pod = self._tenants[key]
            seen = _Seen(pod, there[key], running.get(pod.uid), truth)
            found += [f"{key}: {what}" for what in self._compared(seen)]
        found += self._folders_of_others()
        found += self._as_a_node(truth)
        # Last, since it looks at every process of the machine.
        return found or self._processes_of_others(running)

    def _compared(self, seen: _Seen) -> list[str]:
        if seen.uid != seen.pod.uid:
            return [f"the server has {seen.uid}, made was {seen.pod.uid}"]
        wrong = self._status_of_running(seen) if self._runs else self._status_of_described(seen)
        for name in seen.pod.volumes:
            expected = seen.pod.files(name, seen.truth)
            if expected is None:
                continue  # it stays as it was, if it ever was
            have = _files_in(self._volume(seen.pod, name))
            if have != expected:
                # Numbers tell versions; what is in Secrets is not told.
                wrong.append(f"volume {name} is {_numbers(have)}, not {_numbers(expected)}")
        return wrong

    def _status_of_running(self, seen: _Seen) -> list[str]:
        if seen.record is None:
            if not seen.lacks_something:
                return [f"does not run, and waits for nothing: {seen.state}"]
            return _wrong_reason(seen, {CONTAINER_CREATING, CONFIG_ERROR})
        wrong = []
        if seen.phase != "Running" or "running" not in seen.state:
            wrong.append(f"runs, and the server says {seen.phase}, {seen.state}")
        if seen.container_id.rpartition("//")[2] != seen.record.id:
            wrong.append(f"runs as {seen.record.id}, on the server {seen.container_id}")
        return wrong + self._wrong_variables(seen, seen.record)

    def _wrong_variables(self, seen: _Seen, record: ContainerRecord) -> list[str]:
        """A container keeps what it began with, which was once true."""
        try:
            variables = _variables(Path(f"/proc/{record.pid}/environ").read_bytes().split(b"\0"))
        except (FileNotFoundError, ProcessLookupError):
            return [f"has no process {record.pid}"]
        return [
            f"{name} is {number_in(variables[name])}, newer than the server's {number_in(now)}"
            for name, now in seen.pod.environment(seen.truth).items()
            if now is not None and name in variables and number_in(variables[name]) > number_in(now)
        ]

    def _status_of_described(self, seen: _Seen) -> list[str]:
        """Without leave to run anything, variables are written as they would be now."""
        if seen.record is not None:
            return [f"runs as {seen.record.id}, which nobody allowed"]
        if seen.lacks_something:
            # What was described once stays so while a volume cannot be filled.
            return _wrong_reason(seen, {CONTAINER_CREATING, CONFIG_ERROR, NOT_RUN})
        folder = self._agent.directories.container(seen.pod.uid, "main")
        with contextlib.suppress(FileNotFoundError):
            lines = (folder / "environment").read_bytes().replace(b"'", b"").splitlines()
            have = _variables(lines)
            wrong = [
                f"{name} is another one in the file"
                for name, now in seen.pod.environment(seen.truth).items()
                if have.get(name) != now
            ]
            return wrong + _wrong_reason(seen, {NOT_RUN})
        return ["has no file of variables"]

    def _folders_of_others(self) -> list[str]:
        uids = {each.uid for each in self._tenants.values()}
        places = [self._agent.directories.root, self._agent.directories.memory_root]
        return [
            f"folder {path} is nobody's"
            for place in places
            if place is not None and (place / "pods").is_dir()
            for path in (place / "pods").iterdir()
            if path.name not in uids
        ]

    def _processes_of_others(self, running: Mapping[str, ContainerRecord]) -> list[str]:
        known = {record.pid for record in running.values()}
        return [
            f"process {pid} is nobody's" for pid in processes_below(self._root) if pid not in known
        ]

    def _as_a_node(self, truth: Truth) -> list[str]:
        """It is ready, and has said so since the first time that it was asked."""
        node = truth[NODES.full_name].get(self._node)
        lease = truth[LEASES.full_name].get(f"{LEASE_NAMESPACE}/{self._node}")
        if node is None or lease is None:
            return ["it has no node or no lease"]
        assert isinstance(node.content, Mapping)
        assert isinstance(lease.content, Mapping)
        conditions = node.content.get("status", {}).get("conditions", ())
        is_ready = any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)
        renewed = datetime.fromisoformat(lease.content["spec"]["renewTime"])
        self._asked_at = self._asked_at or datetime.now(UTC)
        return [
            *([] if is_ready else ["its node is not ready"]),
            *([] if renewed > self._asked_at else ["its lease has not been renewed"]),
        ]

    def troubles(self) -> list[str]:
        """What its pods' files showed that must never be."""
        return self._reader.troubles

    def forget(self) -> None:
        """Let what is said from now on be new; all else goes with the pod that it is of."""
        self._asked_at = None

    def left(self) -> list[str]:
        """What is still there of it after its end."""
        kept = self._root / "node" / "pods"
        written = list(kept.rglob("..data")) if kept.is_dir() else []
        return [
            *(f"process {pid} of {self.name}" for pid in processes_below(self._root)),
            *(f"shim {pid} of {self.name}" for pid in shims_of(self._root / "node")),
            *(f"{path} of {self.name}" for path in (*left_in_memory(self._root), *written)),
        ]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A pod, as the server has it and as the shim runs it."""

    pod: Tenant
    document: Document
    record: ContainerRecord | None
    truth: Truth

    @property
    def uid(self) -> str:
        return str(self.document["metadata"]["uid"])

    @property
    def lacks_something(self) -> bool:
        return self.pod.lacks_a_volume(self.truth) or self.pod.lacks_a_variable(self.truth)

    @property
    def phase(self) -> str:
        return str(self.document.get("status", {}).get("phase", ""))

    @property
    def state(self) -> Document:
        status: Document = self._container.get("state", {})
        return status

    @property
    def container_id(self) -> str:
        return str(self._container.get("containerID", ""))

    @property
    def _container(self) -> Document:
        statuses = self.document.get("status", {}).get("containerStatuses") or [{}]
        first: Document = statuses[0]
        return first


def _pods_of(node: str, truth: Truth) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for key, state in truth[PODS.full_name].items():
        assert isinstance(state.content, Mapping)
        if state.content["spec"].get("nodeName") == node:
            found[key] = state.content
    return found


def _wrong_reason(seen: _Seen, allowed: set[str]) -> list[str]:
    reason = seen.state.get("waiting", {}).get("reason")
    if (seen.phase, reason in allowed) == ("Pending", True):
        return []
    return [f"is {seen.phase}, {seen.state}, and not waiting for one of {sorted(allowed)}"]


def _variables(lines: list[bytes]) -> dict[str, bytes]:
    pairs = (line.partition(b"=") for line in lines)
    return {name.decode(): value for name, _, value in pairs}


def _files_in(volume: Path) -> Files:
    """What a container sees in a volume, by path."""
    found: dict[str, bytes] = {}
    with contextlib.suppress(FileNotFoundError):
        for entry in volume.iterdir():
            if entry.name.startswith(".."):
                continue
            for path in entry.iterdir() if entry.is_dir() else [entry]:
                found[str(path.relative_to(volume))] = path.read_bytes()
    return found


def _numbers(files: Files) -> dict[str, int]:
    return {path: number_in(content) for path, content in files.items()}
