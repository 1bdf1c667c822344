"""What only lightkube has; the scenes of every client are in tests/integration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import lightkube
import pytest

from reflet.adapters.lightkube_client import ThreadedTransport, client
from reflet.errors import ConfigurationError, CredentialsError, TransportError
from reflet.transport.interface import Request
from tests.integration.foreign_clients import kubeconfig


def config(**user: Any) -> lightkube.KubeConfig:
    document = kubeconfig("http://127.0.0.1:1/below")
    document["users"][0]["user"] = user or {"token": "t"}
    document["contexts"][0]["context"]["namespace"] = "shop"
    return lightkube.KubeConfig.from_dict(document)


def test_the_namespace_is_theirs_unless_another_is_given() -> None:
    with lightkube.Client(config()) as theirs:
        assert client(theirs).namespace == "shop"
        assert client(theirs, namespace="other").namespace == "other"


def test_what_is_no_client_of_lightkube_is_refused() -> None:
    stranger: Any = object()

    with pytest.raises(ConfigurationError, match="lightkube 1"):
        client(stranger)


async def test_credentials_that_are_missing_are_our_error(tmp_path: Path) -> None:
    missing = str(tmp_path / "token")
    async with lightkube.AsyncClient(config(tokenFile=missing)) as theirs:
        with pytest.raises(CredentialsError):
            await client(theirs).version()


async def test_a_client_that_they_have_closed_is_a_broken_connection() -> None:
    with lightkube.Client(config()) as theirs:
        ours = client(theirs)

    with pytest.raises(TransportError, match="is closed"):
        await ours.version()


async def test_requests_go_below_the_path_of_the_server_s_address() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={"gitVersion": "v1"})

    transport = httpx2.MockTransport(answer)
    with lightkube.Client(config(), transport=transport) as theirs:
        await client(theirs).version()

    assert asked == ["http://127.0.0.1:1/below/version"]


async def test_a_watch_over_http2_is_refused_because_it_could_not_be_ended() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, extensions={"http_version": b"HTTP/2"})

    with (
        httpx2.Client(base_url="http://s", transport=httpx2.MockTransport(answer)) as http,
        pytest.raises(ConfigurationError, match="AsyncClient"),
    ):
        async with ThreadedTransport(http).stream(Request(path="/watch")):
            pytest.fail("it must not open")
