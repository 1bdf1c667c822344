"""The recorded cases of the kubelet's store of objects that expire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import Secret
from reflet.api.meta import ObjectMeta
from reflet.api.options import GetOptions
from reflet.api.status import not_found
from reflet.errors import RefletError
from reflet.managers.ttl import ExpiringObjects
from reflet.testing.virtual_time import ManualClock

CASES = json.loads((Path(__file__).parent / "data" / "object_store.json").read_text())["cases"]


class Replies:
    """A server whose next answer is known, and which remembers what it was asked."""

    def __init__(self) -> None:
        self.reply = ""
        self.fetches: list[Mapping[str, str]] = []

    def resource(self, kind: type[Any], *, namespace: str) -> Any:
        return _Namespace(self, namespace)


class _Namespace:
    def __init__(self, replies: Replies, namespace: str) -> None:
        self._replies = replies
        self._namespace = namespace

    async def get(self, name: str, options: GetOptions, /) -> Secret:
        self._replies.fetches.append(
            {
                "namespace": self._namespace,
                "name": name,
                "resourceVersion": options.resource_version or "",
            }
        )
        match self._replies.reply:
            case "notfound":
                raise not_found("secret", name)
            case "error":
                raise RefletError("boom")
            case version:
                return Secret(metadata=ObjectMeta(name=name, resource_version=version))


class Stage:
    """A store, its server and its clock."""

    def __init__(self) -> None:
        self._server = Replies()
        self._clock = ManualClock()
        self._store = ExpiringObjects(self._server, Secret, word="secret", clock=self._clock)

    async def done(self, step: dict[str, Any]) -> dict[str, Any]:
        """What a step brings, as the cases write it."""
        match step:
            case {"op": "add"}:
                self._store.add_reference("ns", "name", "pod")
            case {"op": "delete"}:
                self._store.delete_reference("ns", "name", "pod")
            case {"op": "advance", "seconds": seconds}:
                self._clock.advance(seconds)
            case {"op": "get", "reply": reply}:
                return {"step": step, **await self._got(reply)}
            case _:
                pytest.fail(f"no such step: {step}")
        return {"step": step}

    async def _got(self, reply: str) -> dict[str, Any]:
        self._server.reply, self._server.fetches = reply, []
        try:
            found = await self._store.get("ns", "name")
        except RefletError as error:
            return {"error": str(error), "fetches": self._server.fetches or None}
        version = found.metadata.resource_version
        return {"error": "", "fetches": self._server.fetches or None, "resultRV": version}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_recorded(case: dict[str, Any]) -> None:
    stage = Stage()

    seen = [await stage.done(step["step"]) for step in case["steps"]]

    assert seen == case["steps"]
