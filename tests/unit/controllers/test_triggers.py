"""Which keys a change concerns."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta, OwnerReference
from reflet.api.resources import CONFIG_MAPS, DEPLOYMENTS, NODES, PODS, Resource
from reflet.controllers.triggers import (
    LOW,
    USUAL,
    Predicate,
    all_of,
    any_of,
    generation_changed,
    in_namespaces,
    indexed,
    itself,
    labelled,
    mapped,
    owned,
    priority_of,
    version_changed,
)
from reflet.informer.handlers.changes import Change
from reflet.informer.mirror import Mirror
from reflet.store.deltas import Replaced
from reflet.testing.scripted_source import ScriptedSource


def mirror(resource: Resource = CONFIG_MAPS, **options: Any) -> Mirror[ConfigMap]:
    return Mirror(ScriptedSource[ConfigMap](), resource, **options)


def item(
    name: str = "a", *owners: OwnerReference, version: str = "1", **metadata: Any
) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(
            name=name,
            namespace="shop",
            resource_version=version,
            owner_references=owners,
            **metadata,
        )
    )


def owner(
    name: str, kind: str = "Deployment", version: str = "apps/v1", *, controller: bool | None = True
) -> OwnerReference:
    return OwnerReference(api_version=version, kind=kind, name=name, controller=controller)


def updated(old: ConfigMap, new: ConfigMap) -> Change[ConfigMap]:
    return Change("UPDATED", new, old)


def test_an_object_is_work_for_itself() -> None:
    assert itself(mirror()).keys(Change("DELETED", item("a"))) == ["shop/a"]


@pytest.mark.parametrize(
    ("reference", "keys"),
    [
        (owner("web"), ["shop/web"]),
        (owner("web", version="apps/v1beta9"), ["shop/web"]),  # whichever version of the group
        (owner("web", version="example.com/v1"), []),
        (owner("web", kind="StatefulSet"), []),
        (owner("web", controller=None), []),
    ],
)
def test_an_owned_object_is_work_for_its_controller(
    reference: OwnerReference, keys: list[str]
) -> None:
    change = Change("ADDED", item("a", reference))

    assert owned(mirror(), DEPLOYMENTS).keys(change) == keys
    assert owned(mirror(), mirror(DEPLOYMENTS)).keys(change) == keys


def test_with_any_owner_it_is_work_for_those_that_do_not_control_it_too() -> None:
    change = Change("ADDED", item("a", owner("web", controller=None), owner("api")))

    assert owned(mirror(), DEPLOYMENTS, any_owner=True).keys(change) == ["shop/web", "shop/api"]


def test_an_owner_without_a_namespace_has_a_key_without_one() -> None:
    change = Change("ADDED", item("a", owner("worker", "Node", "v1")))

    assert owned(mirror(), NODES).keys(change) == ["worker"]


def test_an_object_that_changes_hands_is_work_for_both_owners() -> None:
    change = updated(item("a", owner("old")), item("a", owner("new"), version="2"))

    assert owned(mirror(), DEPLOYMENTS).keys(change) == ["shop/new", "shop/old"]


def test_an_object_is_work_for_those_that_have_it_in_their_index() -> None:
    primary = mirror(PODS, indexers={"uses": lambda pod: pod.data.values()})
    pod = ConfigMap(metadata=ObjectMeta(name="web", namespace="shop"), data={"uses": "shop/a"})
    primary.informer.store.apply(Replaced(items=(pod,), version="1"))

    assert indexed(mirror(), primary, "uses").keys(Change("UPDATED", item("a"))) == ["shop/web"]
    assert indexed(mirror(), primary, "uses").keys(Change("UPDATED", item("b"))) == []


def test_an_own_function_may_give_any_keys_and_each_counts_once() -> None:
    trigger = mapped(mirror(), lambda found: ["x", "x", found.metadata.name])

    assert trigger.keys(updated(item("a"), item("a", version="2"))) == ["x", "a"]


@pytest.mark.parametrize(
    ("predicate", "change", "passes"),
    [
        (generation_changed, Change("ADDED", item()), True),
        (generation_changed, Change("DELETED", item(), item()), True),
        (generation_changed, updated(item(generation=1), item(generation=1, version="2")), False),
        (generation_changed, updated(item(generation=1), item(generation=2, version="2")), True),
        (version_changed, updated(item(), item()), False),
        (version_changed, updated(item(), item(version="2")), True),
        (labelled("app=web"), Change("ADDED", item(labels={"app": "web"})), True),
        (labelled("app=web"), Change("ADDED", item()), False),
        (labelled("app=web"), updated(item(labels={"app": "web"}), item(version="2")), True),
        (in_namespaces("shop"), Change("ADDED", item()), True),
        (in_namespaces("bank", "park"), Change("ADDED", item()), False),
        (all_of(labelled("a"), in_namespaces("shop")), Change("ADDED", item()), False),
        (any_of(labelled("a"), in_namespaces("shop")), Change("ADDED", item()), True),
    ],
)
def test_a_predicate_leaves_changes_out(
    predicate: Predicate[Any], change: Change[ConfigMap], passes: bool
) -> None:
    assert itself(mirror(), predicate=predicate).keys(change) == (["shop/a"] if passes else [])


@pytest.mark.parametrize(
    ("change", "priority"),
    [
        (Change("ADDED", item()), USUAL),
        (Change("ADDED", item(), initial=True), LOW),
        (updated(item(), item(version="2")), USUAL),
        (updated(item(), item()), LOW),
    ],
)
def test_what_nobody_has_just_changed_is_less_urgent(
    change: Change[ConfigMap], priority: int
) -> None:
    assert priority_of(change) == priority
