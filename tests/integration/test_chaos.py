"""Everybody lives through storms of faults on the development server, in clear and over TLS.

``REFLET_SEED`` tells another story, ``REFLET_CHAOS_SECONDS`` a longer one (``make soak``); what
fails names its seed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, final

import pytest

from examples import website_operator
from reflet.api.resources import PODS, Resource
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.devserver.faults import IMMEDIATE_ACTIONS, Action, Fault
from reflet.devserver.request.bodies import Body
from reflet.devserver.request.request_options import DeleteOptions, WriteOptions
from reflet.devserver.server import DevServer
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs import deleting, patching
from reflet.devserver.verbs.writing import Writing
from reflet.errors import NotFound
from reflet.transport.connection import Connection
from tests.faults import chaos
from tests.faults.hurry import WAITS
from tests.faults.roads import (
    KINDS,
    WRITTEN_BY_OTHERS,
    Road,
    clear_road,
    document_of,
    encrypted_road,
    opened_road,
    whole,
)
from tests.mirror_scenes import WIDGET_DEFINITION
from tests.witnesses import State

STATUSES: Final = (401, 403, 410, 429, 500, 503, 504)

pytestmark = [
    pytest.mark.story,
    pytest.mark.time_limit(3 * chaos.SECONDS + 6 * chaos.CALM),
]


@final
class DevGround:
    """The development server, written to without a request that could fail.  Is a ``Ground``."""

    scope = ALL_NAMESPACES
    namespaces = ("shop", "garden")

    def __init__(self, server: DevServer, roads: list[Road]) -> None:
        self.roads = roads
        self._server = server
        self._storage = server.state.storage
        self._numbers = itertools.count(1)

    async def put(self, resource: str, namespace: str, name: str) -> None:
        number = next(self._numbers)
        key = Key(resource, namespace, name)
        present = self._storage.get(key)
        document = document_of(resource, namespace, name, number)
        document["metadata"]["uid"] = (
            f"uid-{number}" if present is None else present.object["metadata"]["uid"]
        )
        (self._storage.create if present is None else self._storage.replace)(key, document)

    async def delete(self, resource: str, namespace: str, name: str) -> None:
        key = Key(resource, namespace, name)
        if self._storage.get(key) is not None:
            self._storage.delete(key)

    async def create(self, resource: Resource, namespace: str, document: Mapping[str, Any]) -> str:
        kind = self._server.state.kinds.by_kind(resource.api_version, resource.kind)
        assert kind is not None
        writing = Writing(self._server.state, kind, namespace, WriteOptions())
        answer = await writing.create(writing.checked(dict(document)))
        uid: str = answer.document["metadata"]["uid"]
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
        kind = self._server.state.kinds.by_kind(resource.api_version, resource.kind)
        assert kind is not None
        writing = Writing(
            self._server.state, kind, namespace, WriteOptions(), name=name, subresource=subresource
        )
        body = Body(json.dumps(change).encode(), patching.MERGE_PATCH)
        with contextlib.suppress(NotFound):
            await patching.patch(writing, body)

    async def remove(
        self, resource: Resource, namespace: str, name: str, *, grace: int | None = None
    ) -> None:
        kind = self._server.state.kinds.by_kind(resource.api_version, resource.kind)
        assert kind is not None
        options = DeleteOptions(grace_seconds=grace)
        with contextlib.suppress(NotFound):
            deleting.delete(self._server.state, kind, namespace, name, options)

    async def truth(self) -> dict[str, dict[str, State]]:
        found = {
            resource: {
                each.key.path: State.of_document(each.object)
                for each in self._storage.list(resource)
            }
            for resource in KINDS
        }
        for resource in WRITTEN_BY_OTHERS:
            listed = self._storage.list(resource.full_name)
            found[resource.full_name] = {each.key.path: whole(each.object) for each in listed}
        return found

    async def fail(self, chance: random.Random) -> str:
        if chance.random() < 0.3:
            return self._fail_agents(chance)
        action = chance.choice(list(Action))
        now = action in IMMEDIATE_ACTIONS and chance.random() < 0.5
        seconds = chance.choice((0.0, 0.1, 0.3))
        fault = Fault(
            action,
            verb="" if action is Action.RESTART else chance.choice(("watch", "watch", "list", "")),
            resource=chance.choice(("", *KINDS, PODS.full_name)),
            after=chance.randrange(3),
            times=chance.randrange(1, 8),
            now=now,
            status=chance.choice(STATUSES),
            retry_after=chance.choice((None, 0, 1)),
            seconds=seconds,
        )
        self._server.faults.add(fault)
        return f"{action} of the server, {'now' if now else f'{fault.times} times'}"

    def _fail_agents(self, chance: random.Random) -> str:
        """Let something go wrong with what agents write."""
        fault = Fault(
            chance.choice((Action.STATUS, Action.STATUS, Action.DROP, Action.RESET)),
            verb=chance.choice(("patch", "delete", "create", "update")),
            resource=chance.choice(("", PODS.full_name)),
            times=chance.randrange(1, 4),
            status=chance.choice(STATUSES),
            retry_after=chance.choice((None, 0, 1)),
        )
        self._server.faults.add(fault)
        return f"{fault.action} {fault.status} of {fault.verb} {fault.resource}"

    async def heal(self) -> None:
        self._server.faults.clear()
        # So that what it remembers, for a while, is not what is measured.
        self._server.requests.clear()
        for event in self._storage.list("events"):
            self._storage.delete(event.key)
        self._storage.expire_history()


@asynccontextmanager
async def ground(*, tls: bool, seed: int) -> AsyncIterator[DevGround]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(DevServer(tls=tls))
        given: dict[str, Any] = {"seed": seed, "authority": server.ca_data, "token": server.token}
        roads = (
            [
                await encrypted_road(stack, server.port, **given),
                await opened_road(stack, server.port, protocol="http/1.1", **given),
            ]
            if tls
            else [await clear_road(stack, server.port, seed=seed)]
        )
        async with Client(Connection(roads[0][1])) as client:
            for definition in (WIDGET_DEFINITION, website_operator.DEFINITION):
                await client.resource("customresourcedefinitions").create(definition)
            for name in DevGround.namespaces:
                namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                await client.resource("namespaces").create(namespace)
        yield DevGround(server, roads)


@pytest.mark.parametrize("tls", [False, True], ids=["clear", "tls"])
async def test_everybody_lives_through_the_storms(
    tls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, seconds in WAITS:
        monkeypatch.setattr(module, name, seconds)
    async with ground(tls=tls, seed=chaos.SEED) as here:
        chronicle = await chaos.live_through(here, tmp_path)

    sys.stdout.write(f"REFLET_SEED={chaos.SEED}: {chronicle}\n")  # shown by make soak
    assert chronicle.faults > 0
    assert chronicle.writes > 0
