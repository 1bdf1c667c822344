"""A development server lets go of every connection, however young, and breaks each only once."""

from __future__ import annotations

import asyncio
import gc
import socket
from contextlib import closing
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.cluster import Cluster
from reflet.devserver.faults import Action, Fault
from reflet.devserver.http import application
from reflet.devserver.server import DevServer
from reflet.devserver.verbs.reading import open_watch
from reflet.errors import TransportError
from reflet.transport.config.settings import ConnectionSettings


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("steps", range(6))
async def test_a_client_that_has_just_connected_is_let_go(tls: bool, steps: int) -> None:
    async with DevServer(tls=tls) as server:
        client = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        for _ in range(steps):
            await asyncio.sleep(0)

    with closing(client):
        assert is_gone(client)
    gc.collect()  # what was forgotten complains now


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("steps", range(6))
async def test_a_client_that_has_just_connected_does_not_survive_a_restart(
    tls: bool, steps: int
) -> None:
    async with DevServer(tls=tls) as server:
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=5)) as client:
            for _ in range(steps):
                await asyncio.sleep(0)
            await server.restart()

            assert await asyncio.to_thread(is_gone, client)


@pytest.mark.parametrize("steps", range(6))
async def test_a_connection_that_is_reset_can_be_reset_again(steps: int) -> None:
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url)) as cluster,
        cluster.resource(ConfigMap).watch() as watch,
    ):
        server.faults.add(Fault(Action.RESET, now=True))
        for _ in range(steps):
            await asyncio.sleep(0)
        server.faults.add(Fault(Action.RESET, now=True))

        with pytest.raises(TransportError):
            _ = [event async for event in watch]


async def test_a_client_that_is_gone_before_its_watch_begins_is_not_worth_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        DevServer(tls=False) as server,
        Cluster(ConnectionSettings(server=server.url)) as cluster,
    ):

        def hang_up_first(*arguments: Any, **options: Any) -> Any:
            for connection in server._web.connections:
                assert connection.transport is not None
                connection.transport.abort()
            return open_watch(*arguments, **options)

        monkeypatch.setattr(application, "open_watch", hang_up_first)
        with pytest.raises(TransportError):
            async with cluster.resource(ConfigMap).watch():
                pytest.fail("there was no head")

    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def is_gone(client: socket.socket) -> bool:
    """Whether the other side has closed the connection; False when it says nothing for long."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
