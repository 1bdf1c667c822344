"""What only kubernetes_asyncio has; the scenes of every client are in tests/integration."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes_asyncio.client import ApiClient, Configuration

from reflet.adapters.asyncio_client import AsyncioTransport, client
from reflet.errors import CredentialsError, TransportError
from reflet.transport.interface import Request


def api_client(**settings: Any) -> ApiClient:
    configuration = Configuration(host="http://127.0.0.1:1")
    for name, value in settings.items():
        setattr(configuration, name, value)
    return ApiClient(configuration)


async def test_credentials_that_cannot_be_renewed_are_our_error_without_their_words() -> None:
    async def broken(configuration: Any) -> None:
        raise ValueError("plugin said canary")

    async with api_client(refresh_api_key_hook=broken, api_key={"BearerToken": "old"}) as theirs:
        with pytest.raises(CredentialsError) as raised:
            await AsyncioTransport(theirs).send(Request(path="/version"))

    assert "canary" not in str(raised.value)


async def test_their_default_headers_are_sent_but_do_not_replace_ours() -> None:
    async with api_client(api_key={"BearerToken": "Bearer t"}) as theirs:
        theirs.set_default_header("Accept", "text/html")
        theirs.set_default_header("X-Extra", "1")
        theirs.cookie = "a=b"

        headers = await AsyncioTransport(theirs)._headers(
            Request(
                path="/version",
                headers=(("accept", "application/json"), ("content-type", "text/plain")),
            )
        )

    assert headers.pop("User-Agent")
    assert headers == {
        "accept": "application/json",
        "authorization": "Bearer t",
        "Content-Type": "text/plain",
        "Cookie": "a=b",
        "X-Extra": "1",
    }


async def test_a_client_that_they_have_closed_is_a_broken_connection() -> None:
    async with api_client() as theirs:
        ours = client(theirs)

    with pytest.raises(TransportError, match="is closed"):
        await ours.version()
