"""Loading a list of thousands of objects when the server starts, as ``serve -f`` does.

Owns: the objects, the process that loads them, and the table.  Each measurement is a process of
its own; what is counted is its CPU time from reading the file to the last object stored.

::

    python -m benchmarks.devserver_loading --table          the full size alone
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.devserver_growth import Figures
from benchmarks.measuring import (
    Sample,
    answer,
    first_line,
    interleaved,
    resident_bytes,
    run_child,
    shown,
    table,
)
from reflet.devserver.server import DevServer

MODULE: Final = "benchmarks.devserver_loading"
PATIENCE: Final = 240.0  # seconds for one process
FULL_COUNT: Final = 30_000
ROUNDS: Final = 3

Document = dict[str, Any]


def config_map(number: int) -> Document:
    """Make one with two labels and three keys."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"config-{number}",
            "namespace": "default",
            "labels": {"app": f"app-{number % 50}", "tier": "web"},
        },
        "data": {"settings": "x=1\ny=2\n" * 4, "level": "info", "number": str(number)},
    }


def secret(number: int) -> Document:
    """Make one with two keys."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"secret-{number}", "namespace": "default"},
        "data": {"password": "aHVudGVyMg==", "user": "bWU="},
    }


def pod(number: int) -> Document:
    """Make one with a container that has a port, two variables, requests and a volume."""
    reference = {"configMapKeyRef": {"name": f"config-{number}", "key": "level"}}
    container = {
        "name": "main",
        "image": "nginx:1.25",
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": reference}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}", "namespace": "default"},
        "spec": {
            "containers": [container],
            "volumes": [{"name": "config", "configMap": {"name": f"config-{number}"}}],
        },
    }


MIXES: Final[Mapping[str, tuple[Callable[[int], Document], ...]]] = {
    "ConfigMaps": (config_map,),
    "ConfigMaps and Secrets": (config_map, secret),
    "ConfigMaps, Secrets and Pods": (config_map, secret, pod),
}


def items(mix: str, count: int) -> Iterator[Document]:
    """Give the objects of a list."""
    makers = MIXES[mix]
    for number in range(count):
        yield makers[number % len(makers)](number)


def written_list(file: Path, mix: str, count: int) -> Path:
    """Write the list into a file."""
    listing = {"kind": "List", "apiVersion": "v1", "items": [*items(mix, count)]}
    file.write_text(json.dumps(listing))
    return file


def load_once(count: int, mix: str) -> Sample:
    """Load a list in a process of its own."""
    return run_child(MODULE, {"mix": mix, "count": count}, patience=PATIENCE)


def loading(count: int, rounds: int) -> Figures:
    """Load every mix."""
    return interleaved(MIXES, rounds, partial(load_once, count))


def loading_table(count: int, figures: Figures) -> str:
    """What loading costs."""
    return table(
        f"{count:,} objects from a list in JSON, when the server starts",
        ("objects", "CPU, s", "µs an object", "server MiB more, for all"),
        (
            (
                mix,
                shown(each["cpu_seconds"], 2),
                shown(each["cpu_seconds"], 0, scale=1e6 / count),
                shown(each["bytes"], 0, scale=1 / 2**20),
            )
            for mix, each in figures.items()
        ),
    )


async def child() -> None:
    """Load what the task says, and tell what it cost."""
    task = first_line()
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as folder:
        file = written_list(Path(folder, "list.json"), task["mix"], task["count"])
        async with DevServer(tls=False):
            pass  # What any server needs is paid for now.
        memory, began = resident_bytes(), time.process_time()
        async with DevServer(tls=False, load=[file]) as server:
            seconds = time.process_time() - began
            assert len(server.loaded) == task["count"]
            answer({"cpu_seconds": seconds, "bytes": resident_bytes() - memory})


def main() -> None:
    """Show the table."""
    print(loading_table(FULL_COUNT, loading(FULL_COUNT, ROUNDS)))


if __name__ == "__main__":
    if "--table" in sys.argv:
        main()
    else:
        asyncio.run(child())
