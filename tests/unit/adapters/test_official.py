"""What only the official client has; the scenes of every client are in tests/integration."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.client import ApiClient, Configuration

from reflet.adapters.official import OfficialTransport, client
from reflet.errors import CredentialsError
from reflet.transport.interface import Request


def api_client(**settings: Any) -> ApiClient:
    configuration = Configuration(host="http://127.0.0.1:1")
    for name, value in settings.items():
        setattr(configuration, name, value)
    return ApiClient(configuration)


async def test_credentials_that_cannot_be_renewed_are_our_error_without_their_words() -> None:
    def broken(configuration: Any) -> None:
        raise ValueError("plugin said canary")

    with (
        api_client(refresh_api_key_hook=broken, api_key={"BearerToken": "old"}) as theirs,
        pytest.raises(CredentialsError) as raised,
    ):
        await OfficialTransport(theirs).send(Request(path="/version"))

    assert "canary" not in str(raised.value)


def test_their_default_headers_are_sent_but_do_not_replace_ours() -> None:
    with api_client(api_key={"BearerToken": "Bearer t"}) as theirs:
        theirs.set_default_header("Accept", "text/html")
        theirs.set_default_header("X-Extra", "1")
        theirs.cookie = "a=b"

        headers = OfficialTransport(theirs)._headers(
            Request(path="/version", headers=(("accept", "application/json"),))
        )

    assert headers.pop("User-Agent")
    assert headers == {
        "accept": "application/json",
        "authorization": "Bearer t",
        "cookie": "a=b",
        "X-Extra": "1",
    }


def test_the_namespace_is_the_caller_s() -> None:
    with api_client() as theirs:
        assert client(theirs).namespace == "default"
        assert client(theirs, namespace="shop").namespace == "shop"
