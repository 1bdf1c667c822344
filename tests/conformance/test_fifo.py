"""The recorded operation series, through four queues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.informer.queues.delta_fifo import DeltaFifo, QueueClosed, QueuedDelta
from reflet.informer.queues.ordered_queue import OrderedQueue
from reflet.store.keys import Tombstone

RECORDED = json.loads((Path(__file__).parent / "data" / "fifo.json").read_text())
Queue = DeltaFifo[ConfigMap] | OrderedQueue[ConfigMap]


class Known:
    def __init__(self, objects: list[dict[str, Any]]) -> None:
        self._objects = {item["name"]: made(item) for item in objects}

    def keys(self) -> list[str]:
        return list(self._objects)

    def get(self, key: str) -> ConfigMap | None:
        return self._objects.get(key)


def made(item: dict[str, Any]) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=item["name"]), data={"val": str(item["val"])})


def shown(item: ConfigMap | Tombstone[ConfigMap] | None) -> Any:
    match item:
        case Tombstone(key=key, object=last):
            return {"tombstone": True, "key": key, "obj": shown(last)}
        case ConfigMap():
            return {"name": item.metadata.name, "val": int(item.data["val"])}
        case None:
            return None


def described(delta: QueuedDelta[ConfigMap]) -> dict[str, Any]:
    match delta.type.value:
        case "ReplacedAll":
            content: Any = {
                "replacedAll": [shown(item) for item in delta.items],
                "rv": delta.version,
            }
        case "SyncAll":
            content = {"syncAll": True}
        case "Bookmark":
            content = {"bookmark": delta.version}
        case _:
            content = shown(delta.object)
    return {"type": delta.type.value, "object": content}


def queue_for(name: str, known: list[dict[str, Any]] | None) -> Queue:
    match name:
        case "DeltaFIFO" | "DeltaFIFO+Replaced":
            objects = None if known is None else Known(known)
            return DeltaFifo(known=objects, emit_replaced=name.endswith("Replaced"))
        case "RealFIFO":
            return OrderedQueue(known=Known(known or []))
        case _:
            return OrderedQueue()


class Failed(Exception):
    pass


async def done(queue: Queue, operation: dict[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    match operation["op"]:
        case "add":
            queue.add(made(operation["obj"]))
        case "update":
            queue.update(made(operation["obj"]))
        case "delete":
            queue.delete(made(operation["obj"]))
        case "replace":
            items = [made(item) for item in operation.get("objs", [])]
            if isinstance(queue, OrderedQueue):
                queue.replace(items, operation["rv"])
            else:
                queue.replace(items)
        case "resync":
            queue.resync()
        case "bookmark" if isinstance(queue, OrderedQueue):
            queue.bookmark(operation["rv"])
        case "close":
            queue.close()
        case "pop" | "popBatch":
            seen = await popped(queue, operation)
        case _:
            seen = {"skipped": True}
    return {"op": operation["op"], "hasSynced": queue.synced.is_set, **seen}


async def popped(queue: Queue, operation: dict[str, Any]) -> dict[str, Any]:
    if operation["op"] == "popBatch" and isinstance(queue, DeltaFifo):
        return {"skipped": True}
    seen: dict[str, Any] = {"deltas": [], "isInInitialList": False}

    def process(deltas: Sequence[QueuedDelta[ConfigMap]], is_initial: bool) -> None:
        seen["deltas"] = [described(delta) for delta in deltas]
        seen["isInInitialList"] = is_initial
        if operation["op"] == "popBatch":
            seen["single"] = len(deltas) == 1
        if operation.get("fail"):
            raise Failed("process failed")

    if not len(queue) and not closed(queue):
        return {"wouldBlock": True}
    try:
        if operation["op"] == "popBatch" and isinstance(queue, OrderedQueue):
            await queue.pop_batch(process)
        else:
            await queue.pop(process)
    except (QueueClosed, Failed) as error:
        seen["error"] = str(error)
    return seen


def closed(queue: Queue) -> bool:
    return queue._closed


CASES = [
    pytest.param(case, queue, id=f"{case['name']}-{queue}")
    for case in RECORDED["cases"]
    for queue in RECORDED["queues"]
]


@pytest.mark.parametrize(("case", "name"), CASES)
async def test_recorded(case: dict[str, Any], name: str) -> None:
    queue = queue_for(name, case["known"])

    seen = [await done(queue, operation) for operation in case["ops"]]

    assert seen == case["expect"][name]
