"""Reflet's managers at work, in a process of its own; and being told of writes.

Owns: the two jobs and where each starts and stops its clocks.  Must not know what comes of the
figures.

A child (see ``measuring.Child``).  The jobs:

- hold: have every object of a namespace watched, as pods with a few references each ask for it;
  from the first registration until every object can be read, and what that costs in memory; then
  read everything many times from one thread; then let pods come and go whose objects others
  refer to as well, so that no stream does.
- follow: be told of every write to the objects, and say when a read showed it.  The moments are
  of CLOCK_MONOTONIC, which all processes of a machine share.

Everything that happens once in the life of a process happens before a clock runs: a small
namespace is held first.  ``benchmarks/go/managers`` is the first job with the kubelet's own
manager.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.measuring import answer, cpu_seconds, first_line, open_sockets, resident_bytes
from benchmarks.wire_clients import Target
from reflet.api.core.containers import ConfigMapEnvSource, Container, EnvFromSource, SecretEnvSource
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.cluster import Cluster
from reflet.errors import CacheNotSynced
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager

Manager = ObjectManager[Any]
MANAGERS: Final[Mapping[str, Callable[..., Manager]]] = {
    "ConfigMap": ConfigMapManager,
    "Secret": SecretManager,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done.

    ``kind`` is ConfigMap or Secret.  ``references`` are those of each pod, ``settle`` the seconds
    after which memory is looked at.  ``reads``, ``pods`` and ``rounds`` are of the job hold,
    ``writes`` of the job follow.
    """

    job: str
    kind: str
    strategy: str
    url: str
    ca_file: str
    token: str
    namespace: str
    warm_up_namespace: str
    objects: int
    warm_up_objects: int
    patience: float
    references: int = 10
    settle: float = 2.0
    reads: int = 0
    pods: int = 0
    rounds: int = 0
    writes: int = 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """A moment, by the clock and by what this process has used of the processor."""

    cpu: float
    wall: float

    @classmethod
    def now(cls) -> Clocks:
        """Look at both."""
        return cls(cpu_seconds(), time.monotonic())

    def spent(self, name: str) -> dict[str, float]:
        """The seconds since then, as figures."""
        ended = Clocks.now()
        return {
            f"{name}_seconds": ended.wall - self.wall,
            f"{name}_cpu_seconds": ended.cpu - self.cpu,
        }

    def rates(self, name: str, count: int) -> dict[str, float]:
        """How many there were a second, as figures."""
        ended = Clocks.now()
        return {
            f"{name}_per_second": count / (ended.wall - self.wall),
            f"{name}_per_cpu_second": count / (ended.cpu - self.cpu),
        }


def object_name(number: int) -> str:
    """The name that ``wire_objects.create`` gives."""
    return f"settings-{number:05}"


def source_of(kind: str, name: str) -> EnvFromSource:
    """A reference to an object."""
    if kind == "Secret":
        return EnvFromSource(secret_ref=SecretEnvSource(name=name))
    return EnvFromSource(config_map_ref=ConfigMapEnvSource(name=name))


def pod(task: Task, namespace: str, number: int, first: int, objects: int) -> Pod:
    """A pod that refers to some objects in a row, beginning again at the end."""
    name = f"pod-{number:05}"
    count = min(task.references, objects)
    names = [object_name((first + position) % objects) for position in range(count)]
    sources = tuple(source_of(task.kind, each) for each in names)
    return Pod(
        metadata=ObjectMeta(namespace=namespace, name=name, uid=f"uid of {name}"),
        spec=PodSpec(containers=(Container(name="app", env_from=sources),)),
    )


def users(task: Task, namespace: str, objects: int) -> list[Pod]:
    """Pods that refer to every object, once each."""
    return [
        pod(task, namespace, number, first, objects)
        for number, first in enumerate(range(0, objects, task.references))
    ]


@asynccontextmanager
async def managed(task: Task) -> AsyncIterator[Manager]:
    """The manager, warmed up."""
    target = Target(task.url, task.ca_file, task.token)
    async with (
        Cluster(target.settings()) as cluster,
        MANAGERS[task.kind](cluster, strategy=task.strategy) as manager,
    ):
        pods = users(task, task.warm_up_namespace, task.warm_up_objects)
        for each in pods:
            manager.register_pod(each)
        await read_all(manager, task.warm_up_namespace, task.warm_up_objects)
        for each in pods:
            manager.unregister_pod(each)
        await asyncio.sleep(task.settle)
        yield manager


async def read_all(manager: Manager, namespace: str, objects: int) -> None:
    """Read every object, and once more as long as it is not there in time."""
    for number in range(objects):
        name = object_name(number)
        while True:
            try:
                found = await manager.get(namespace, name)
                break
            except CacheNotSynced:
                continue
        if found.metadata.name != name:
            raise RuntimeError(f"asked for {name}, got {found.metadata.name}")


# Jobs


async def hold(task: Task) -> None:
    """Hold a namespace, read it, and register pods."""
    async with managed(task) as manager:
        pods = users(task, task.namespace, task.objects)
        gc.collect()
        before = resident_bytes()
        begun = Clocks.now()
        for each in pods:
            manager.register_pod(each)
        await read_all(manager, task.namespace, task.objects)
        figures = begun.spent("sync")
        await asyncio.sleep(task.settle)
        gc.collect()
        figures |= {
            "bytes_per_object": (resident_bytes() - before) / task.objects,
            "peak_bytes": float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024),
            "sockets": float(open_sockets()),
            "streams": float(len(manager.plan())),
        }
        names = [object_name(number) for number in range(task.objects)]
        for _ in range(2):  # the first time only warms up
            figures |= peeked(manager, task, names)
            figures |= await got(manager, task, names)
        figures |= registered(manager, task)
        answer(figures)


def peeked(manager: Manager, task: Task, names: Sequence[str]) -> dict[str, float]:
    """Read from memory, as any thread may."""
    namespace, rounds = task.namespace, max(1, task.reads // len(names))
    begun = Clocks.now()
    for _ in range(rounds):
        for name in names:
            manager.peek(namespace, name)
    return begun.rates("reads", rounds * len(names))


async def got(manager: Manager, task: Task, names: Sequence[str]) -> dict[str, float]:
    """Read with the call that waits where it has to."""
    namespace, rounds = task.namespace, max(1, task.reads // len(names))
    begun = Clocks.now()
    for _ in range(rounds):
        for name in names:
            await manager.get(namespace, name)
    return begun.rates("awaited_reads", rounds * len(names))


def registered(manager: Manager, task: Task) -> dict[str, float]:
    """Let pods come and go."""
    pods = [
        pod(task, task.namespace, number + task.objects, number * task.references, task.objects)
        for number in range(task.pods)
    ]
    begun = Clocks.now()
    for _ in range(task.rounds):
        for each in pods:
            manager.register_pod(each)
        for each in pods:
            manager.unregister_pod(each)
    return begun.rates("registrations", 2 * task.pods * task.rounds)


async def follow(task: Task) -> None:
    """Say when each write could be read; the first line says that the writer may begin."""
    async with managed(task) as manager:
        for each in users(task, task.namespace, task.objects):
            manager.register_pod(each)
        await read_all(manager, task.namespace, task.objects)
        await asyncio.sleep(task.settle)
        with manager.subscribe() as changes:
            answer({"streams": len(manager.plan())})
            moments: dict[str, float] = {}
            while str(task.writes - 1) not in moments:
                change = await anext(changes)
                shown = manager.peek(change.namespace, change.name).data["sequence"]
                moments.setdefault(shown, time.monotonic())
        answer({"moments": moments})


async def main() -> None:
    """Do the task of standard input."""
    task = Task(**first_line())
    try:
        async with asyncio.timeout(task.patience):
            await {"hold": hold, "follow": follow}[task.job](task)
    except TimeoutError:
        raise RuntimeError(f"not done within {task.patience:g} s") from None


if __name__ == "__main__":
    asyncio.run(main())
