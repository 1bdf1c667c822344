"""What a server serves, from either form of its catalogue."""

from __future__ import annotations

from typing import Any

from reflet.api.resources import Resource
from reflet.client.client import Client
from reflet.client.discovery import served_resources, server_version
from reflet.transport.interface import Request, Response
from tests.unit.client.scripted_transport import ScriptedTransport, ok, refused

WIDGETS = Resource(
    group="example.com",
    version="v1",
    plural="widgets",
    kind="Widget",
    singular="widget",
    short_names=("wd",),
    namespaced=True,
)


class Catalogue(ScriptedTransport):
    """Answers by path."""

    def __init__(self, documents: dict[str, Any]) -> None:
        super().__init__()
        self._documents = documents

    async def send(self, request: Request, /) -> Response:
        self.requests.append(request)
        document = self._documents.get(request.path)
        if document is None:
            return refused(404, "NotFound", "the server could not find the requested resource")
        return ok(document)


AGGREGATED = {
    "/api": {"kind": "APIGroupDiscoveryList", "items": []},
    "/apis": {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": "example.com"},
                "versions": [
                    {
                        "version": "v1",
                        "resources": [
                            {
                                "resource": "widgets",
                                "responseKind": {"kind": "Widget"},
                                "scope": "Namespaced",
                                "singularResource": "widget",
                                "shortNames": ["wd"],
                            }
                        ],
                    }
                ],
            }
        ],
    },
}
PLAIN = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": {
        "kind": "APIResourceList",
        "resources": [
            {"name": "pods", "kind": "Pod", "namespaced": True, "shortNames": ["po"]},
            {"name": "pods/status", "kind": "Pod", "namespaced": True},
        ],
    },
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": "example.com",
                "versions": [
                    {"groupVersion": "example.com/v1beta1", "version": "v1beta1"},
                    {"groupVersion": "example.com/v1", "version": "v1"},
                ],
                "preferredVersion": {"groupVersion": "example.com/v1", "version": "v1"},
            }
        ],
    },
    "/apis/example.com/v1": {
        "kind": "APIResourceList",
        "resources": [
            {
                "name": "widgets",
                "kind": "Widget",
                "namespaced": True,
                "singularName": "widget",
                "shortNames": ["wd"],
            }
        ],
    },
}


async def test_one_answer_for_each_root_is_enough() -> None:
    transport = Catalogue(AGGREGATED)

    assert await served_resources(transport) == (WIDGETS,)
    assert len(transport.requests) == 2


async def test_a_server_without_that_form_is_asked_group_by_group() -> None:
    served = await served_resources(Catalogue(PLAIN))

    assert [str(resource) for resource in served] == ["pods", "widgets.example.com"]
    assert served[1] == WIDGETS


async def test_a_custom_resource_is_found_by_its_short_name_and_asked_for_once() -> None:
    transport = Catalogue(AGGREGATED)
    client = Client(transport)

    assert await client.find("wd") == WIDGETS
    assert await client.find("Widget") == WIDGETS
    assert len(transport.requests) == 2


async def test_a_built_in_name_needs_no_request() -> None:
    transport = Catalogue({})

    assert (await Client(transport).find("deploy")).full_name == "deployments.apps"
    assert transport.requests == []


async def test_the_server_says_what_it_is() -> None:
    version = await server_version(Catalogue({"/version": {"gitVersion": "v1.36.4"}}))

    assert version.git_version == "v1.36.4"
