"""Parts of objects with paths of their own, reviews, and custom kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from reflet.devserver.verbs.state import LogRequest
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import MERGE_PATCH, TABLE, Client, config_map, pod

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


def deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    containers = [{"name": "main", "image": "example"}]
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def definition() -> dict[str, Any]:
    size = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": size, "status": {"type": "object"}}}
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [column],
        "subresources": {"status": {}},
    }
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wg"]}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        },
    }


def widget(name: str, size: int) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": size},
    }


def test_a_status_is_written_apart_from_the_rest(client: Client) -> None:
    client.create(PODS, pod("p"))

    body = b'{"spec":{"nodeName":"x"},"status":{"phase":"Running"}}'
    client.request("PATCH", f"{PODS}/p/status", body, MERGE_PATCH)
    after = client.get(f"{PODS}/p").body

    assert after["status"]["phase"] == "Running"
    assert "nodeName" not in after["spec"]


def test_a_scale_shows_and_changes_the_number_of_replicas(client: Client) -> None:
    client.create(DEPLOYMENTS, deployment("d", 2))

    scale = client.get(f"{DEPLOYMENTS}/d/scale").body
    body = {"metadata": {"name": "d"}, "spec": {"replicas": 5}}
    client.request("PUT", f"{DEPLOYMENTS}/d/scale", body)

    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == (
        "Scale",
        {"replicas": 2},
        "app=d",
    )
    assert client.get(f"{DEPLOYMENTS}/d").body["spec"]["replicas"] == 5


def test_a_pod_is_bound_to_a_node_once(client: Client) -> None:
    client.create(PODS, pod("p"))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "node"}}

    first = client.request("POST", f"{PODS}/p/binding", binding)
    second = client.request("POST", f"{PODS}/p/binding", binding)

    assert (first.code, second.code) == (201, 409)
    assert client.get(f"{PODS}/p").body["spec"]["nodeName"] == "node"
    assert 'pod p is already assigned to node "node"' in second.message


def test_a_log_comes_from_whoever_has_it(server: RunningServer, client: Client) -> None:
    client.create(PODS, pod("p"))
    asked: list[LogRequest] = []

    async def logs(request: LogRequest) -> AsyncIterator[bytes]:
        asked.append(request)

        async def pieces() -> AsyncIterator[bytes]:
            yield b"one\n"
            yield b"two\n"

        return pieces()

    server.call(lambda: setattr(server.server, "log_source", logs))
    answer = client.get(f"{PODS}/p/log?tailLines=2")

    assert answer.content == b"one\ntwo\n"
    assert (asked[0].container, asked[0].tail_lines) == ("main", 2)


def test_a_token_lets_a_service_account_in(client: Client) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    client.create(accounts, {"metadata": {"name": "robot"}})

    made = client.create(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 600}})
    robot = client.with_token(made["status"]["token"])
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    assert robot.get("/api/v1/namespaces").code == 200
    user = robot.create(reviews, {})["status"]["userInfo"]
    assert user["username"] == "system:serviceaccount:default:robot"


def test_everybody_who_is_known_may_do_everything(client: Client) -> None:
    spec = {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}

    review = client.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec})

    assert review["status"] == {"allowed": True}


def test_a_custom_kind_is_served_as_soon_as_it_is_defined(client: Client) -> None:
    made = client.create(DEFINITIONS, definition())

    client.create(WIDGETS, widget("w", 3))
    table = client.get(WIDGETS, **TABLE).body

    conditions = {each["type"]: each["status"] for each in made["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "Size"]
    assert table["rows"][0]["cells"] == ["w", 3]


def test_a_custom_object_is_checked_by_its_schema(client: Client) -> None:
    client.create(DEFINITIONS, definition())
    wrong = {**widget("w", 0), "spec": {"size": "large"}}

    answer = client.request("POST", WIDGETS, wrong)

    assert (answer.code, answer.reason) == (422, "Invalid")
    assert 'spec.size: Invalid value: "string"' in answer.message


def test_a_definition_takes_its_objects_along(client: Client) -> None:
    client.create(DEFINITIONS, definition())
    client.create(WIDGETS, widget("w", 3))

    client.request("DELETE", f"{DEFINITIONS}/widgets.example.com")
    gone = client.get(WIDGETS)
    client.create(DEFINITIONS, definition())

    assert gone.code == 404
    assert client.get(WIDGETS).body["items"] == []


@pytest.mark.parametrize("subresource", ["scale", "proxy"])
def test_other_subresources_are_not_there(client: Client, subresource: str) -> None:
    client.create(PODS, pod("p"))

    assert client.get(f"{PODS}/p/{subresource}").code == 404


def test_objects_have_no_status_where_their_kind_has_none(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a"))

    assert client.get(f"{config_maps}/a/status").code == 404
