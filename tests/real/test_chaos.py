"""Everybody lives through storms of faults between them and a real API server.

The faults are those of the proxies, over HTTP/2, and compactions of etcd; the server itself does
nothing wrong.  Seeds and lengths are those of the other chaos, tests/integration/test_chaos.py.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, final

import pytest

from examples import website_operator
from reflet.api.resources import LEASES, NODES, Resource
from reflet.node.identity.node_lease import LEASE_NAMESPACE
from tests.faults import chaos
from tests.faults.hurry import WAITS
from tests.faults.operator_inhabitant import WEBSITES
from tests.faults.roads import (
    KINDS,
    WRITTEN_BY_OTHERS,
    Road,
    document_of,
    encrypted_road,
    opened_road,
    whole,
)
from tests.mirror_scenes import WIDGET_DEFINITION, WIDGETS
from tests.real.api_connection import ApiConnection
from tests.real.kube_server import KubeServer
from tests.witnesses import State

MERGE_PATCH: Final = "application/merge-patch+json"

pytestmark = pytest.mark.time_limit(3 * chaos.SECONDS + 6 * chaos.CALM)


@final
class RealGround:
    """One namespace of the real server, written to by a client that is not ours."""

    def __init__(self, kube: KubeServer, namespace: str, roads: list[Road]) -> None:
        self.scope = namespace
        self.namespaces = (namespace,)
        self.roads = roads
        self._kube = kube
        self._numbers = itertools.count(1)
        self._connection: ApiConnection = kube.connect()

    def close(self) -> None:
        self._connection.close()

    async def put(self, resource: str, namespace: str, name: str) -> None:
        document = document_of(resource, namespace, name, next(self._numbers))
        path = KINDS[resource].path(namespace=namespace)

        def send() -> None:
            request = self._connection.request
            answer = request("PATCH", f"{path}/{name}", document, content_type=MERGE_PATCH)
            if answer.code == 404:
                answer = request("POST", path, document)
            assert answer.code in {200, 201}, answer

        await asyncio.to_thread(send)

    async def delete(self, resource: str, namespace: str, name: str) -> None:
        path = f"{KINDS[resource].path(namespace=namespace)}/{name}"
        await asyncio.to_thread(self._connection.request, "DELETE", path)

    async def create(self, resource: Resource, namespace: str, document: Mapping[str, Any]) -> str:
        path = resource.path(namespace=namespace or None)
        answer = await asyncio.to_thread(self._connection.request, "POST", path, document)
        assert answer.code == 201, answer
        uid: str = answer.body["metadata"]["uid"]
        return uid

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> None:
        path = f"{resource.path(namespace=namespace or None)}/{name}/{subresource}".rstrip("/")

        def send() -> None:
            request = self._connection.request
            answer = request("PATCH", path, change, content_type=MERGE_PATCH)
            assert answer.code in {200, 404}, answer

        await asyncio.to_thread(send)

    async def remove(
        self, resource: Resource, namespace: str, name: str, *, grace: int | None = None
    ) -> None:
        path = f"{resource.path(namespace=namespace or None)}/{name}"
        body = {} if grace is None else {"gracePeriodSeconds": grace}
        answer = await asyncio.to_thread(self._connection.request, "DELETE", path, body)
        assert answer.code in {200, 202, 404}, answer

    async def truth(self) -> dict[str, dict[str, State]]:
        return await asyncio.to_thread(self._truth)

    def _truth(self) -> dict[str, dict[str, State]]:
        found = {}
        for resource, kind in KINDS.items():
            listed = self._connection.request("GET", kind.path(namespace=self.scope)).body
            found[resource] = {
                f"{self.scope}/{item['metadata']['name']}": State.of_document(item)
                for item in listed["items"]
            }
        for kind in WRITTEN_BY_OTHERS:
            namespace = {NODES: "", LEASES: LEASE_NAMESPACE}.get(kind, self.scope)
            path = kind.path(namespace=namespace or None)
            listed = self._connection.request("GET", path).body
            found[kind.full_name] = {
                f"{namespace}/{item['metadata']['name']}".lstrip("/"): whole(item)
                for item in listed["items"]
            }
        return found

    async def fail(self, chance: random.Random) -> str:
        await asyncio.to_thread(self._kube.compact)
        return "compaction of etcd"

    async def heal(self) -> None:
        """The server does nothing wrong of its own."""


@asynccontextmanager
async def ground(kube: KubeServer, namespace: str, *, seed: int) -> AsyncIterator[RealGround]:
    async with AsyncExitStack() as stack:
        given: dict[str, Any] = {
            "seed": seed,
            "authority": kube.ca_data,
            "token": kube.tokens["admin"],
        }
        roads = [
            await encrypted_road(stack, kube.port, **given),
            await opened_road(stack, kube.port, protocol="h2", **given),
        ]
        here = RealGround(kube, namespace, roads)
        stack.callback(here.close)
        await here.truth()  # so that its own connection is there before anything is counted
        yield here


async def test_everybody_lives_through_the_storms(
    kube: KubeServer, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, seconds in WAITS:
        monkeypatch.setattr(module, name, seconds)
    await asyncio.to_thread(serve, kube, WIDGETS, WIDGET_DEFINITION)
    await asyncio.to_thread(serve, kube, WEBSITES, website_operator.DEFINITION)
    async with ground(kube, namespace, seed=chaos.SEED) as here:
        chronicle = await chaos.live_through(here, tmp_path)

    sys.stdout.write(f"REFLET_SEED={chaos.SEED}: {chronicle}\n")  # shown by make soak
    assert chronicle.faults > 0
    assert chronicle.writes > 0


def serve(kube: KubeServer, resource: Resource, definition: Mapping[str, Any]) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = kube.request("POST", definitions, definition)
    assert made.code in {201, 409}, made
    goal = f"{resource.plural} are served"
    kube._wait_until(goal, lambda: kube.request("GET", resource.path()).code == 200)
