from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_metadata, check_metadata_update
from tests.unit.devserver.object_scene import complaints, kind_of

CONFIG_MAPS = kind_of("configmaps")


def wrong_with(plural: str = "configmaps", group: str = "", /, **metadata: Any) -> list[str]:
    errors = FieldErrors()
    kind = kind_of(plural, group)
    namespace = {"namespace": "shop"} if kind.namespaced else {}
    check_metadata(kind, {"name": "x"} | namespace | metadata, errors)
    return complaints(errors)


def test_usual_metadata_is_fine() -> None:
    assert wrong_with(labels={"a/b": "c"}, annotations={"A/b": "any\n"}, finalizers=["a/b"]) == []


def test_a_name_is_required() -> None:
    assert wrong_with(name="") == [
        "metadata.name: Required value: name or generateName is required"
    ]


def test_a_dash_at_the_end_of_a_prefix_is_fine() -> None:
    assert wrong_with(generateName="a-", name="a-b") == []


@pytest.mark.parametrize(
    ("plural", "group", "name", "count"),
    [
        ("namespaces", "", "a.b", 1),
        ("configmaps", "", "a.b", 0),
        ("statefulsets", "apps", "a.b", 1),
        ("events", "", "Any:Name", 0),
        ("events", "", "a/b", 1),
        ("events", "events.k8s.io", "Any:Name", 1),
        ("roles", "rbac.authorization.k8s.io", "system:a", 0),
        ("roles", "rbac.authorization.k8s.io", "a/b", 1),
    ],
)
def test_kinds_have_their_own_rules_for_names(
    plural: str, group: str, name: str, count: int
) -> None:
    assert len(wrong_with(plural, group, name=name)) == count


def test_a_namespace_is_not_allowed_where_there_is_none() -> None:
    assert wrong_with("nodes", namespace="a") == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_only_one_owner_is_the_controller() -> None:
    owners = [
        {"apiVersion": "v1", "kind": "A", "name": n, "uid": n, "controller": True} for n in "ab"
    ]

    (complaint,) = wrong_with(ownerReferences=owners)

    assert complaint.endswith('Found "true" in references for A/a and A/b')


def test_an_event_owns_nothing() -> None:
    owner = {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}

    assert "is disallowed from being an owner" in wrong_with(ownerReferences=[owner])[0]


def test_a_finalizer_needs_a_domain() -> None:
    assert wrong_with(finalizers=["kubernetes"]) == []
    assert "neither a standard finalizer name" in wrong_with(finalizers=["mine"])[0]
    assert "cannot be both set" in wrong_with(finalizers=["orphan", "foregroundDeletion"])[0]


def test_annotations_may_be_a_quarter_of_a_mebibyte() -> None:
    assert wrong_with(annotations={"a": "b" * (256 * 1024 - 1)}) == []
    assert wrong_with(annotations={"a": "b" * (256 * 1024)}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]


def changed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_metadata_update(new, old, errors)
    return complaints(errors)


def test_identity_never_changes() -> None:
    assert changed({"name": "a", "uid": "1"}, {"name": "b", "uid": "2"}) == [
        'metadata.name: Invalid value: "b": field is immutable',
        'metadata.uid: Invalid value: "2": field is immutable',
    ]


def test_no_finalizer_is_added_to_what_is_going() -> None:
    old = {"deletionTimestamp": "t", "finalizers": ["a/b"]}

    assert changed(old, old | {"finalizers": []}) == []
    assert changed(old, old | {"finalizers": ["a/b", "c/d"]}) == [
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            'deleted, found new finalizers []string{"c/d"}'
        )
    ]
