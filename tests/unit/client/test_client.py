"""From a kind or a name to the client of its resource."""

from __future__ import annotations

import json

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.errors import ParseError
from tests.unit.client.scripted_transport import ScriptedTransport, ok


@pytest.mark.parametrize("kind", [ConfigMap, "cm", "configmaps", "ConfigMap"])
def test_a_class_and_its_names_mean_the_same(kind: type[ConfigMap] | str) -> None:
    client = Client(ScriptedTransport(), namespace="shop")

    assert str(client.resource(kind).resource) == "configmaps"


def test_no_namespace_means_the_connections_own() -> None:
    client = Client(ScriptedTransport(), namespace="shop")

    assert client.resource(Secret).namespace == "shop"
    assert client.resource(Secret, namespace="other").namespace == "other"
    assert client.resource(Secret, namespace=ALL_NAMESPACES).namespace is None
    assert client.resource(Node).namespace is None


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ParseError, match="did you mean secrets"):
        Client(ScriptedTransport()).resource("secretz")


async def test_raw_objects_keep_everything() -> None:
    document = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "extra": [1]}
    client = Client(ScriptedTransport(ok(document)))

    found = await client.resource(ConfigMap, raw=True).get("a")

    assert isinstance(found, AnyObject)
    assert found.to_dict() == document


async def test_a_token_request_names_the_pod_it_is_bound_to() -> None:
    answer = {"status": {"token": "canary", "expirationTimestamp": "2026-01-01T00:00:00Z"}}
    transport = ScriptedTransport(ok(answer, 201))

    token = await Client(transport, namespace="shop").request_token(
        "robot", audiences=["vault"], expiration_seconds=600, pod=("web", "123")
    )

    (request,) = transport.requests
    assert request.path == "/api/v1/namespaces/shop/serviceaccounts/robot/token"
    assert json.loads(request.body)["spec"] == {
        "audiences": ["vault"],
        "expirationSeconds": 600,
        "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "123"},
    }
    assert "canary" not in repr(token)


async def test_leaving_the_context_closes_the_connection() -> None:
    transport = ScriptedTransport()

    async with Client(transport):
        pass

    assert transport.closed
