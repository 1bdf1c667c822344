"""Reflet on other people's connections: what they bring, and how they break.

Every scene is played with every client.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import ListOptions, WatchOptions
from reflet.client.client import Client
from reflet.client.resource_client import ResourceClient
from reflet.client.watch import Watch
from reflet.devserver.server import DevServer
from reflet.errors import (
    ConnectionRefused,
    DeadlineExceeded,
    DecodeError,
    Expired,
    TooManyRequests,
    TransportError,
)
from tests.integration.foreign_clients import ADAPTERS, Adapter, kubeconfig
from tests.patience import within


@pytest.fixture(params=list(ADAPTERS.values()), ids=list(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> Adapter:
    chosen: Adapter = request.param
    return chosen


class Exchange:
    """One request as the server sees it, and the way to answer it."""

    def __init__(self, target: str, headers: Mapping[str, str], out: asyncio.StreamWriter) -> None:
        self.target = target
        self.headers = headers
        self._out = out

    async def answer(self, body: Any, status: str = "200 OK", **headers: str) -> None:
        """Send a whole answer."""
        text = json.dumps(body).encode()
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(text)}\r\n{''.join(lines)}\r\n"
        self._out.write(head.encode() + text)
        await self._out.drain()

    async def begin(self) -> None:
        """Send the head of an answer in chunks."""
        self._out.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        await self._out.drain()

    async def chunk(self, data: bytes) -> None:
        self._out.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self._out.drain()

    async def end(self) -> None:
        self._out.write(b"0\r\n\r\n")
        await self._out.drain()


Play = Callable[[Exchange], Awaitable[None]]


class Server:
    def __init__(self, play: Play) -> None:
        self.targets: list[str] = []
        self.gone = asyncio.Event()
        self.serving: set[asyncio.Task[None] | None] = set()
        self._play = play

    async def serve(self, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        self.serving.add(asyncio.current_task())
        try:
            while request := await incoming.readline():
                target = request.decode().split()[1]
                headers = {}
                while (line := (await incoming.readline()).decode().strip()) != "":
                    name, _, value = line.partition(": ")
                    headers[name.lower()] = value
                self.targets.append(target)
                await self._play(Exchange(target, headers, outgoing))
        except ConnectionError:
            pass  # the client hung up, which some scenes are about
        finally:
            self.gone.set()
            outgoing.close()


@asynccontextmanager
async def playing(adapter: Adapter, play: Play) -> AsyncIterator[tuple[Server, Client]]:
    """A server that answers every request as *play* says, and our client of it."""
    server = Server(play)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        async with adapter(kubeconfig(f"http://127.0.0.1:{port}")) as client:
            yield server, client
    finally:
        listening.close()
        await listening.wait_closed()
        async with within(10):  # theirs is closed, so all have hung up
            await asyncio.gather(*filter(None, server.serving))


def config_maps(client: Client) -> ResourceClient[ConfigMap]:
    return client.resource(ConfigMap, namespace="shop")


async def read_names(
    watching: AbstractAsyncContextManager[Watch[ConfigMap]], into: list[str]
) -> None:
    async with watching as watch:
        async for event in watch:
            into.append(event.object.metadata.name)  # noqa: PERF401 - kept when it raises


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def added(name: str) -> bytes:
    return json.dumps({"type": "ADDED", "object": config_map(name)}).encode() + b"\n"


async def test_a_page_is_asked_for_as_we_ask_and_with_their_credentials(adapter: Adapter) -> None:
    seen: list[str] = []

    async def play(exchange: Exchange) -> None:
        seen.extend((exchange.headers["authorization"], exchange.headers["accept"]))
        await exchange.answer(
            {
                "kind": "ConfigMapList",
                "apiVersion": "v1",
                "items": [config_map("settings")],
                "metadata": {"resourceVersion": "7"},
            }
        )

    async with playing(adapter, play) as (server, client):
        page = await config_maps(client).page(
            ListOptions(limit=5, resource_version="0", label_selector="a in (b, c)")
        )

    assert [item.metadata.name for item in page.items] == ["settings"]
    assert page.metadata.resource_version == "7"
    path, _, query = server.targets[0].partition("?")
    assert path == "/api/v1/namespaces/shop/configmaps"
    assert sorted(query.replace("%2C", ",").split("&")) == [
        "labelSelector=a+in+(b,c)" if "(" in query else "labelSelector=a+in+%28b,c%29",
        "limit=5",
        "resourceVersion=0",
    ]
    assert seen == ["Bearer a-token", "application/json"]


async def test_events_come_while_the_stream_goes_on(adapter: Adapter) -> None:
    more = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.chunk(added("first")[:30])
        await exchange.chunk(added("first")[30:])
        await more.wait()
        await exchange.chunk(added("second") + added("third"))
        await exchange.end()

    names: list[str] = []
    async with (
        playing(adapter, play) as (server, client),
        config_maps(client).watch(WatchOptions(send_initial_events=True)) as watch,
    ):
        async for event in watch:
            names.append(event.object.metadata.name)
            more.set()

    assert names == ["first", "second", "third"]
    assert "sendInitialEvents=true" in server.targets[0]


async def test_leaving_a_silent_watch_hangs_up(adapter: Adapter) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin()

    async with playing(adapter, play) as (server, client):
        async with config_maps(client).watch():
            pass
        async with within(10):
            await server.gone.wait()


async def test_a_watch_that_is_cancelled_while_it_is_read_hangs_up(adapter: Adapter) -> None:
    reading = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.chunk(added("first"))

    async def read(client: Client) -> None:
        async with config_maps(client).watch() as watch:
            async for _ in watch:
                reading.set()

    async with playing(adapter, play) as (server, client):
        task = asyncio.create_task(read(client))
        await reading.wait()
        task.cancel()
        await asyncio.wait((task,))
        async with within(10):
            await server.gone.wait()

    assert task.cancelled()


async def test_a_stream_that_goes_silent_is_given_up(adapter: Adapter) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.chunk(added("first"))

    async with playing(adapter, play) as (_, client):
        names: list[str] = []
        with pytest.raises(DeadlineExceeded, match="silent"):
            await read_names(config_maps(client).watch(silence=0.2), names)

    assert names == ["first"]


async def test_a_connection_that_breaks_loses_no_event_before(adapter: Adapter) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.chunk(added("first") + added("second")[:20])
        raise ConnectionError

    async with playing(adapter, play) as (_, client):
        names: list[str] = []
        with pytest.raises(TransportError) as raised:
            await read_names(config_maps(client).watch(), names)

    assert names == ["first"]
    assert not isinstance(raised.value, ConnectionRefused)


async def test_what_is_no_event_is_our_decoder_s_error(adapter: Adapter) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.chunk(b"<html>\n")
        await exchange.end()

    async with playing(adapter, play) as (_, client), config_maps(client).watch() as watch:
        with pytest.raises(DecodeError):
            await anext(aiter(watch))


async def test_nobody_there_is_a_refused_connection(adapter: Adapter) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # and nobody listens
        server = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        async with adapter(kubeconfig(server)) as client:
            with pytest.raises(ConnectionRefused):
                await config_maps(client).page()
            with pytest.raises(ConnectionRefused):
                async with config_maps(client).watch():
                    pytest.fail("there is nothing to watch")


async def test_an_expired_version_is_refused_as_such(adapter: Adapter) -> None:
    status = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}

    async def play(exchange: Exchange) -> None:
        await exchange.answer(status, "410 Gone")

    async with playing(adapter, play) as (_, client):
        with pytest.raises(Expired):
            await config_maps(client).page(ListOptions(resource_version="1"))
        with pytest.raises(Expired):
            async with config_maps(client).watch(WatchOptions(resource_version="1")):
                pytest.fail("it must not open")


async def test_a_server_that_protects_itself_is_not_asked_again(adapter: Adapter) -> None:
    """Whoever sends decides when to repeat; their clients' own habits must not interfere."""

    async def play(exchange: Exchange) -> None:
        await exchange.answer({}, "429 Too Many Requests", retry_after="1")

    async with playing(adapter, play) as (server, client):
        with pytest.raises(TooManyRequests) as raised:
            await config_maps(client).page()

    assert raised.value.retry_after == 1
    assert len(server.targets) == 1


async def test_closing_ours_leaves_theirs_open(adapter: Adapter) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.answer({"kind": "ConfigMapList", "apiVersion": "v1", "items": []})

    async with playing(adapter, play) as (server, client):
        await client.close()
        await config_maps(client).page()

    assert len(server.targets) == 1


async def test_a_foreign_connection_mirrors_as_our_own_does(adapter: Adapter) -> None:
    async with (
        DevServer(tls=False) as server,
        adapter(kubeconfig(server.url, token=server.token)) as cluster,
    ):
        await cluster.resource(ConfigMap).create(
            {"metadata": {"name": "settings"}, "data": {"colour": "red"}}
        )
        async with cluster.mirror(ConfigMap) as config_maps:
            await config_maps.synced(timeout=30)

            assert config_maps["settings"].data == {"colour": "red"}
            assert config_maps.namespace == "default"
