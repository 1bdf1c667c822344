"""The jobs of load on a development server: what is written and watched, and what it costs.

A child of its own (see ``measuring.Child``): the task names the job, the answer has its figures.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Final

import msgspec

from benchmarks.devserver_clients import CONFIG_MAPS, Crowd, Target, Writer, shared, writers
from benchmarks.measuring import answer, first_line, percentile

WRITERS: Final = 16
READING_PAUSE: Final = 0.03  # seconds
SETTLED: Final = 1 / 6  # of a soak, after which memory is looked at

Job = Callable[["Target", Mapping[str, Any]], Awaitable[dict[str, Any]]]


# The jobs


async def hold(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Open watches of one object each, then write to some of the objects."""
    watches, writes = task["watches"], task["writes"]
    written = [index * watches // writes for index in range(writes)]
    crowd = Crowd(target)
    async with writers(target, 1) as (writer,):
        for index in written:
            await writer.create(f"c{index}")
        version = await writer.write("c0", -1)
        query = f"watch=1&timeoutSeconds=3600&resourceVersion={version}&fieldSelector="
        paths = [f"{CONFIG_MAPS}?{query}metadata.name%3Dc{index}" for index in range(watches)]
        memory, cpu, began = target.resident_bytes(), target.cpu_seconds(), monotonic()
        opening = await crowd.open(paths)
        seconds = monotonic() - began
        cpu = target.cpu_seconds() - cpu
        memory = target.resident_bytes() - memory
        latencies = []
        for number, index in enumerate(written):
            complete = crowd.expect(1)
            began = monotonic()
            await writer.write(f"c{index}", number + 1)
            await complete
            latencies.append(crowd.arrivals[0] - began)
        told = [watcher.events for watcher in crowd.watchers]
    crowd.close()
    wanted = [0] * watches
    for index in written:
        wanted[index] += 1
    return {
        "open_seconds": seconds,
        "open_p50_ms": percentile(opening, 0.50) * 1000,
        "open_p99_ms": percentile(opening, 0.99) * 1000,
        "open_cpu_microseconds": cpu / watches * 1e6,
        "bytes_per_watch": memory / watches,
        "event_p50_ms": percentile(latencies, 0.50) * 1000,
        "event_p99_ms": percentile(latencies, 0.99) * 1000,
        "wrong": sum(one != other for one, other in zip(told, wanted, strict=True)),
        "broken": len(crowd.broken),
    }


async def fan_out(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Open watches of everything, then write, one write after everybody has heard of the last."""
    watches, writes, warm_up = task["watches"], task["writes"], 3
    crowd = Crowd(target)
    each: list[float] = []
    last: list[float] = []
    async with writers(target, 1) as (writer,):
        await writer.create("shared")
        version = await writer.write("shared", -1)
        path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=3600&resourceVersion={version}"
        await crowd.open([path] * watches)
        cpu = 0.0
        for number in range(warm_up + writes):
            if number == warm_up:
                cpu, each, last = target.cpu_seconds(), [], []
            complete = crowd.expect(watches)
            began = monotonic()
            await writer.write("shared", number)
            await complete
            each += [moment - began for moment in crowd.arrivals]
            last.append(crowd.arrivals[-1] - began)
        cpu = target.cpu_seconds() - cpu
    crowd.close()
    return {
        "each_p50_ms": percentile(each, 0.50) * 1000,
        "each_p99_ms": percentile(each, 0.99) * 1000,
        "last_p50_ms": percentile(last, 0.50) * 1000,
        "last_p99_ms": percentile(last, 0.99) * 1000,
        "cpu_microseconds": cpu / writes / watches * 1e6,
        "lost": sum(writes + warm_up - watcher.events for watcher in crowd.watchers),
        "broken": len(crowd.broken),
    }


async def soak_write(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Write at a steady rate for a while, once the watches are open.

    A write's latency counts from the moment at which it is due, so a server that falls behind
    cannot hide it.
    """
    rate, objects, warm_up = task["rate"], task["objects"], task["warm_up"]
    total = int(rate * task["seconds"])
    versions: list[int] = []
    latencies: list[float] = []
    async with writers(target, WRITERS) as opened:
        await shared(opened, objects, lambda writer, number: writer.create(f"c{number}"))

        async def write(writer: Writer, number: int) -> None:
            versions.append(await writer.write(f"c{number % objects}", number + 1))

        # The server remembers so many changes; before that, its memory has to grow.
        began = monotonic()
        await shared(opened, warm_up, write)
        fastest = warm_up / (monotonic() - began)
        answer({"version": max(versions)})
        await asyncio.to_thread(first_line)
        versions.clear()
        memory = [target.resident_bytes()]
        sampling = asyncio.create_task(sample(target, memory))
        cpu, began = target.cpu_seconds(), monotonic()

        async def write_when_due(writer: Writer, number: int) -> None:
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - monotonic()))
            await write(writer, warm_up + number)
            latencies.append(monotonic() - due)

        await shared(opened, total, write_when_due)
        seconds = monotonic() - began
        cpu = target.cpu_seconds() - cpu
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
        memory.append(target.resident_bytes())
    return {
        "versions": sorted(versions),
        "figures": {
            "fastest_writes_per_second": fastest,
            "writes_per_second": total / seconds,
            "write_p50_ms": percentile(latencies, 0.50) * 1000,
            "write_p99_ms": percentile(latencies, 0.99) * 1000,
            "write_worst_ms": max(latencies) * 1000,
            "cpu_share": cpu / seconds,
            # By then every watch has what it needs for its first events, and never again.
            "memory_at_start": memory[math.ceil(len(memory) * SETTLED)],
            "memory_at_end": memory[-1],
            "memory_most": max(memory),
        },
    }


async def soak_watch(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Watch everything, and say at the end what was seen.

    What arrives is read a few dozen times a second: this process should not take the time
    that the server needs.
    """
    crowd = Crowd(target)
    total = int(task["rate"] * task["seconds"])
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=3600&resourceVersion={task['version']}"
    await crowd.open([path] * task["watches"], whole=1)
    complete = crowd.expect(total * task["watches"])
    answer({"open": len(crowd.watchers)})
    while not complete.done() and not crowd.broken:
        crowd.read_for_a_moment()
        await asyncio.sleep(READING_PAUSE)
    crowd.close()
    return {
        "versions": crowd.watchers[0].versions(),
        "figures": {
            "lost": sum(total - watcher.events for watcher in crowd.watchers),
            "broken": len(crowd.broken),
        },
    }


async def sample(target: Target, memory: list[int]) -> None:
    """Note the server's memory every second."""
    while True:
        await asyncio.sleep(1)
        memory.append(target.resident_bytes())


JOBS: Final[Mapping[str, Job]] = {
    "hold": hold,
    "fan_out": fan_out,
    "soak_write": soak_write,
    "soak_watch": soak_watch,
}


async def main() -> None:
    """Do the job of the task."""
    task = first_line()
    target = msgspec.convert(task["target"], Target)
    async with asyncio.timeout(task["patience"]):
        answer(await JOBS[task["job"]](target, task))


if __name__ == "__main__":
    asyncio.run(main())
