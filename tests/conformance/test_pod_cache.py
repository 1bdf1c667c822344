"""The recorded cases of the kubelet's pod status cache."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pleg.status_cache import Inspection, StatusCache

RECORDED = json.loads((Path(__file__).parent / "data" / "pod_cache.json").read_text())


class Stage:
    """A cache and those who wait at it, by name."""

    def __init__(self) -> None:
        self._cache = StatusCache()
        self._waiters: dict[str, asyncio.Task[Inspection]] = {}

    async def done(self, operation: dict[str, Any]) -> dict[str, Any]:
        """What an operation brings, as the cases write it."""
        seen: dict[str, Any] = {"op": operation["op"]}
        match operation:
            case {"op": "get", "id": uid}:
                seen["result"] = shown(self._cache.get(uid))
            case {"op": "set", "id": uid, "t": at, "version": version}:
                error = Exception(operation["error"]) if "error" in operation else None
                status = RuntimeStatus(uid=uid, name=version)
                seen["updated"] = self._cache.set(uid, status, error, at)
            case {"op": "observed", "id": uid, "t": at}:
                self._cache.set_observed(uid, at)
            case {"op": "delete", "id": uid}:
                self._cache.delete(uid)
            case {"op": "updateTime", "t": at}:
                self._cache.update_time(at)
            case {"op": "getNewerThan", "id": uid, "t": moment, "waiter": name}:
                waiter = asyncio.create_task(self._cache.newer_than(uid, moment))
                await asyncio.sleep(0)
                if waiter.done():
                    return {**seen, "result": shown(waiter.result())}
                self._waiters[name] = waiter
                return {**seen, "blocked": True}
            case _:
                pytest.fail(f"no such operation: {operation}")
        released = await self._released()
        return {**seen, "released": released} if released else seen

    async def _released(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        released = [name for name, waiter in self._waiters.items() if waiter.done()]
        return {name: shown(self._waiters.pop(name).result()) for name in released}

    async def clear(self) -> None:
        for waiter in self._waiters.values():
            waiter.cancel()
        await asyncio.gather(*self._waiters.values(), return_exceptions=True)


def shown(inspection: Inspection) -> dict[str, Any]:
    seen = {"id": inspection.status.uid, "version": inspection.status.name}
    return seen if inspection.error is None else {**seen, "error": str(inspection.error)}


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
async def test_recorded(case: dict[str, Any]) -> None:
    stage = Stage()

    seen = [await stage.done(operation) for operation in case["ops"]]

    await stage.clear()
    assert seen == case["results"]
