"""Refusals that depend on more than the request: on what is stored, or on the form asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.plain_client import APPLY_PATCH, MERGE_PATCH, Client, config_map, pod

METADATA = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": "web"}
    containers = [{"name": "main", "image": "example"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def test_a_collection_is_not_deleted_against_its_preconditions(
    client: Client, config_maps: str
) -> None:
    client.create(config_maps, config_map("a"))

    answer = client.request("DELETE", config_maps, {"preconditions": {"uid": "other"}})

    assert (answer.code, answer.reason) == (409, "Conflict")
    assert client.get(f"{config_maps}/a").code == 200


def test_a_name_is_taken_until_its_object_is_really_gone(client: Client, config_maps: str) -> None:
    client.create(config_maps, config_map("a", finalizers=["example.com/keep"]))
    client.request("DELETE", f"{config_maps}/a")

    answer = client.request("POST", config_maps, config_map("a"))

    assert answer.reason == "AlreadyExists"
    assert answer.message == 'object is being deleted: configmaps "a" already exists'


def test_an_apply_names_the_object_that_it_makes(client: Client, config_maps: str) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"

    answer = client.request("PATCH", f"{config_maps}/a?fieldManager=ann", body, APPLY_PATCH)

    assert answer.code == 400
    assert answer.message.endswith("was undeterminable: name must be provided")


@pytest.mark.parametrize(
    ("path", "form", "message"),
    [
        ("", "", "PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)"),
        (
            "/a",
            "List",
            "PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
        ),
    ],
)
def test_a_form_for_lists_is_not_for_objects_nor_the_other_way_round(
    client: Client, config_maps: str, path: str, form: str, message: str
) -> None:
    client.create(config_maps, config_map("a"))

    answer = client.get(f"{config_maps}{path}", Accept=METADATA.format(form))

    assert (answer.code, answer.message) == (406, f"you requested {message}")


@pytest.mark.parametrize("subresource", ["binding", "eviction"])
def test_a_pod_is_bound_and_evicted_by_its_own_name_only(client: Client, subresource: str) -> None:
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("a"))

    answer = client.request("POST", f"{pods}/a/{subresource}", {"metadata": {"name": "b"}})

    assert answer.code == 400
    assert answer.message == f"name in URL does not match name in {subresource.title()} object"


def test_a_scale_of_another_kind_is_refused(client: Client) -> None:
    client.create(DEPLOYMENTS, deployment("d"))

    answer = client.request("PUT", f"{DEPLOYMENTS}/d/scale", deployment("d"))

    assert answer.code == 400
    assert "cannot be handled as a Scale" in answer.message


@pytest.mark.parametrize(("is_owned", "managers"), [(True, ["ann", "bob"]), (False, ["ann"])])
def test_who_scales_owns_the_number_only_if_somebody_did(
    client: Client, is_owned: bool, managers: list[str]
) -> None:
    wanted = deployment("d")
    if is_owned:
        wanted["spec"]["replicas"] = 1
    client.request("PATCH", f"{DEPLOYMENTS}/d?fieldManager=ann", wanted, APPLY_PATCH)

    scale = {"spec": {"replicas": 3}}
    client.request("PATCH", f"{DEPLOYMENTS}/d/scale?fieldManager=bob", scale, MERGE_PATCH)

    made = client.get(f"{DEPLOYMENTS}/d").body
    assert made["spec"]["replicas"] == 3
    assert [entry["manager"] for entry in made["metadata"]["managedFields"]] == managers


def test_a_custom_scale_needs_its_number(client: Client) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"scale": scale},
    }
    spec = {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"plural": "gears", "kind": "Gear"},
        "versions": [version],
    }
    client.create(definitions, {"metadata": {"name": "gears.example.org"}, "spec": spec})
    gears = "/apis/example.org/v1/namespaces/default/gears"
    gear = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {"name": "g"}}
    client.create(gears, gear)

    answer = client.get(f"{gears}/g/scale")

    assert (answer.code, answer.reason) == (500, "InternalError")
    assert answer.message.endswith('the spec replicas field ".spec.replicas" does not exist')
