from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.admission import (
    clone,
    generated_name,
    prepare_create,
    prepare_update,
    requested_object,
)
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.strict_decoding import check_body
from reflet.errors import BadRequest
from tests.unit.devserver.object_scene import (
    DEFINITION,
    KINDS,
    UID,
    created,
    kind_of,
    pod_body,
    surroundings,
)

CONFIG_MAPS = kind_of("configmaps")
PODS = kind_of("pods")
DEPLOYMENTS = kind_of("deployments", "apps")


def updated(
    kind: ServedKind,
    old: dict[str, Any],
    subresource: str = "",
    kinds: Kinds = KINDS,
    /,
    **changes: Any,
) -> dict[str, Any]:
    document, _ = check_body(kind, copy.deepcopy(old) | changes, kinds=kinds)
    return prepare_update(
        kind,
        old,
        document,
        namespace="shop",
        subresource=subresource,
        surroundings=surroundings(),
    )


def deployment() -> dict[str, Any]:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {}}}
    return created(DEPLOYMENTS, {"metadata": {"name": "x"}, "spec": spec})


def test_the_server_gives_identity_time_and_namespace() -> None:
    made = created(CONFIG_MAPS, {"metadata": {"name": "x", "uid": "mine", "generation": 5}})

    assert made["metadata"] == {
        "name": "x",
        "namespace": "shop",
        "uid": UID,
        "generation": 5,
        "creationTimestamp": "2020-02-03T04:05:06Z",
    }


def test_what_only_the_server_may_say_is_dropped() -> None:
    body = {
        "metadata": {
            "name": "x",
            "selfLink": "/here",
            "resourceVersion": "5",
            "deletionTimestamp": "2020-01-01T00:00:00Z",
            "deletionGracePeriodSeconds": 3,
        }
    }

    made = created(CONFIG_MAPS, body)

    assert made["metadata"].keys() == {"name", "namespace", "uid", "creationTimestamp"}


def test_another_namespace_than_the_requests_is_refused() -> None:
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        created(CONFIG_MAPS, {"metadata": {"name": "x", "namespace": "elsewhere"}})


def test_a_kind_without_namespaces_loses_the_one_it_names() -> None:
    made = created(kind_of("nodes"), {"metadata": {"name": "x", "namespace": "elsewhere"}})

    assert "namespace" not in made["metadata"]


def test_a_name_is_generated_from_a_prefix() -> None:
    made = created(CONFIG_MAPS, {"metadata": {"generateName": "made-"}})

    assert made["metadata"]["name"] == "made-bbbbb"


def test_a_long_prefix_is_cut_so_that_the_name_fits() -> None:
    numbers = iter(range(5))

    assert generated_name("a" * 70, lambda _: next(numbers)) == "a" * 58 + "bcdfg"


def test_the_status_that_a_client_sends_is_dropped() -> None:
    made = created(PODS, pod_body() | {"status": {"phase": "Running", "podIP": "1.2.3.4"}})

    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_the_document_that_came_in_is_not_changed() -> None:
    document, _ = check_body(PODS, pod_body(), kinds=KINDS)
    before = copy.deepcopy(document)

    prepare_create(PODS, document, namespace="shop", surroundings=surroundings())

    assert document == before


def test_an_update_cannot_change_identity_time_or_generation() -> None:
    old = deployment()
    metadata = {"name": "x", "generation": 99, "creationTimestamp": "2001-01-01T00:00:00Z"}

    made = updated(DEPLOYMENTS, old, metadata=metadata)

    assert made["metadata"] == old["metadata"]


def test_a_deletion_that_is_under_way_stays_under_way() -> None:
    old = created(CONFIG_MAPS, {"metadata": {"name": "x"}})
    going = {"deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    old["metadata"].update(going)

    made = updated(CONFIG_MAPS, old, metadata={"name": "x"})

    assert made["metadata"].items() >= going.items()


@pytest.mark.parametrize(
    ("change", "generation"),
    [
        ({"replicas": 5}, 2),
        ({}, 1),
    ],
)
def test_the_generation_counts_changes_of_the_spec(change: dict[str, Any], generation: int) -> None:
    old = deployment()

    made = updated(DEPLOYMENTS, old, spec=old["spec"] | change)

    assert made["metadata"]["generation"] == generation


def test_the_generation_of_a_deployment_counts_its_annotations_but_not_its_labels() -> None:
    old = deployment()

    annotated = updated(DEPLOYMENTS, old, metadata={"name": "x", "annotations": {"a": "b"}})
    labelled = updated(DEPLOYMENTS, old, metadata={"name": "x", "labels": {"a": "b"}})

    assert annotated["metadata"]["generation"] == 2
    assert labelled["metadata"]["generation"] == 1


def test_an_update_keeps_the_status_and_a_status_update_keeps_the_rest() -> None:
    old = created(PODS, pod_body())
    running = old["status"] | {"phase": "Running"}
    spec = old["spec"] | {"restartPolicy": "Never"}

    by_update = updated(PODS, old, spec=spec, status=running)
    by_status = updated(PODS, old, "status", spec=spec, status=running)

    assert (by_update["spec"], by_update["status"]) == (spec, old["status"])
    assert (by_status["spec"], by_status["status"]) == (old["spec"], running)
    assert by_status["metadata"]["generation"] == 1


def test_a_custom_objects_status_update_changes_nothing_else() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    kind = kind_of("gears", "example.org", kinds=kinds)
    body = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {"name": "x"}}
    old = created(kind, body | {"spec": {"size": 2}, "status": {"teeth": 1}}, kinds=kinds)
    assert "status" not in old

    made = updated(
        kind,
        old,
        "status",
        kinds,
        status={"teeth": 7},
        spec={"size": 9},
        metadata={"name": "x", "labels": {"a": "b"}},
    )

    assert made == old | {"status": {"teeth": 7}}


def test_a_custom_objects_generation_counts_everything_but_metadata_and_status() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    kind = kind_of("gears", "example.org", kinds=kinds)
    body = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {"name": "x"}}
    old = created(kind, body | {"spec": {"size": 2}}, kinds=kinds)

    changed = updated(kind, old, "", kinds, spec={"size": 3})
    labelled = updated(kind, old, "", kinds, metadata={"name": "x", "labels": {"a": "b"}})

    assert (old["metadata"]["generation"], changed["metadata"]["generation"]) == (1, 2)
    assert labelled["metadata"]["generation"] == 1


def test_a_clone_shares_nothing() -> None:
    original = {"a": [{"b": 1}]}

    copied = clone(original)
    copied["a"][0]["b"] = 2

    assert original == {"a": [{"b": 1}]}


def test_the_generation_of_a_priority_class_stays() -> None:
    kind = kind_of("priorityclasses", "scheduling.k8s.io")
    old = created(kind, {"metadata": {"name": "x"}, "value": 1})
    body = copy.deepcopy(old) | {"description": "new"}

    made = prepare_update(kind, old, body, namespace="", surroundings=surroundings())

    assert (made["description"], made["metadata"]["generation"]) == ("new", 1)


# What webhooks see


def requested(plural: str, body: dict[str, Any], *, is_new: bool = True) -> dict[str, Any]:
    kind = kind_of(plural)
    document, _ = check_body(kind, body, kinds=KINDS)
    return requested_object(kind, document, namespace="shop", is_new=is_new)


def test_a_new_object_reaches_webhooks_without_what_only_the_server_gives() -> None:
    given = {"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z", "generateName": "made-"}

    found = requested("configmaps", {"metadata": given})

    assert found["metadata"] == {"generateName": "made-", "namespace": "shop"}


def test_a_changed_object_reaches_webhooks_with_what_the_client_gives() -> None:
    found = requested("configmaps", {"metadata": {"name": "c", "uid": "u"}}, is_new=False)

    assert found["metadata"] == {"name": "c", "uid": "u", "namespace": "shop"}


def test_webhooks_see_defaults_and_what_plugins_add_but_no_status_of_the_server() -> None:
    found = requested("pods", {**pod_body(), "status": {"phase": "Running"}})

    assert found["spec"]["restartPolicy"] == "Always"
    assert [each["key"] for each in found["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert found["status"]["phase"] == "Running"


def test_webhooks_see_texts_of_a_secret_as_its_data() -> None:
    found = requested("secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})

    assert (found["data"], "stringData" in found) == ({"a": "Yg=="}, False)


def test_lists_of_nothing_are_kept_where_objects_are_stored_as_json() -> None:
    roles = kind_of("clusterroles", "rbac.authorization.k8s.io")
    gears = kind_of("customresourcedefinitions", "apiextensions.k8s.io")
    names = {"plural": "gears", "kind": "Gear"}

    role = created(roles, {"metadata": {"name": "x"}, "rules": []})
    definition = created(
        gears, {"metadata": {"name": "x"}, "spec": {"names": names, "versions": []}}
    )

    assert role["rules"] is None
    assert definition["spec"]["versions"] == []
