"""What lives by the objects follows them back: kinds, addresses, namespaces."""

from __future__ import annotations

from typing import Any

from reflet.devserver.request.authentication import TokenIssuer
from reflet.devserver.request.request_options import DeleteOptions
from reflet.devserver.storage.storage import Storage
from reflet.devserver.verbs.deleting import delete
from reflet.devserver.verbs.loading import load, plant, read_manifests
from reflet.devserver.verbs.state import State


def state_with(*documents: dict[str, Any]) -> State:
    state = State(Storage(), tokens=TokenIssuer(b"secret"))
    plant(state, 443)
    put(state, *documents)
    return state


def put(state: State, *documents: dict[str, Any]) -> None:
    load(state, read_manifests(documents))


def remove(state: State, plural: str, name: str, namespace: str | None = None) -> None:
    group, _, plural = plural.rpartition("/")
    kind = state.kinds.by_resource(group, "v1", plural)
    assert kind is not None
    delete(state, kind, namespace, name, DeleteOptions())


def definition(plural: str) -> dict[str, Any]:
    kind = plural.removesuffix("s").capitalize()
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": plural, "kind": kind},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def service(name: str, port: int) -> dict[str, Any]:
    ports = [{"port": 80, "nodePort": port}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": "NodePort", "ports": ports},
    }


def custom(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}}


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_kinds_come_and_go_with_their_definitions() -> None:
    state = state_with(definition("apples"), custom("Apple", "old"))
    snapshot = state.storage.snapshot()
    remove(state, "apiextensions.k8s.io/customresourcedefinitions", "apples.example.com")
    put(state, definition("pears"), custom("Pear", "new"))

    state.restore(snapshot)

    assert state.kinds.by_kind("example.com/v1", "Pear") is None
    assert state.kinds.by_kind("example.com/v1", "Apple") is not None
    assert [stored.key.name for stored in state.storage.list("apples.example.com")] == ["old"]
    assert state.storage.list("pears.example.com") == ()


def test_a_port_that_went_from_one_service_to_another_is_the_first_ones_again() -> None:
    state = state_with(service("first", 30001))
    snapshot = state.storage.snapshot()
    remove(state, "services", "first", "default")
    put(state, service("second", 30001), service("third", 30002))

    state.restore(snapshot)

    assert state.addresses.is_port_taken(30001)
    assert not state.addresses.is_port_taken(30002)


def test_a_namespace_that_is_deleted_comes_back_with_what_was_in_it() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap"}
    state = state_with(
        namespace("team"), {**config_map, "metadata": {"name": "a", "namespace": "team"}}
    )
    snapshot = state.storage.snapshot()
    remove(state, "namespaces", "team")
    put(state, namespace("other"), {**config_map, "metadata": {"name": "b", "namespace": "other"}})

    state.restore(snapshot)

    assert state.namespace("team") is not None
    assert [key.name for key in state.contents_of("team")] == ["a"]
    assert state.namespace("other") is None


def test_a_namespace_that_was_going_is_going_again() -> None:
    """Its last object is replaced by others on the way, and it must not be gone for that."""
    held = {"name": "held", "namespace": "team", "finalizers": ["example.com/hold"]}
    state = state_with(
        namespace("team"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": held}
    )
    remove(state, "namespaces", "team")
    snapshot = state.storage.snapshot()
    config_map = state.storage.list("configmaps", "team")[0]
    state.storage.delete(config_map.key)
    assert state.namespace("team") is None

    state.restore(snapshot)

    found = state.namespace("team")
    assert found is not None
    assert found["status"]["phase"] == "Terminating"
    assert [key.name for key in state.contents_of("team")] == ["held"]
