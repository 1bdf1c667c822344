from __future__ import annotations

from typing import Any

import pytest

from reflet.api.unstructured import AnyObject
from reflet.cli.output.change_output import details
from reflet.errors import DecodeError
from reflet.informer.handlers.changes import Change


def made(kind: str = "ConfigMap", version: str = "1", **members: Any) -> AnyObject:
    metadata = {"name": "a", "resourceVersion": version, **members.pop("metadata", {})}
    return AnyObject.from_dict({"apiVersion": "v1", "kind": kind, "metadata": metadata, **members})


def added(item: AnyObject) -> str:
    return details(Change("ADDED", item))


def updated(old: AnyObject, new: AnyObject) -> str:
    return details(Change("UPDATED", new, old))


def test_keys_are_counted_and_differences_have_signs() -> None:
    old = made(data={"gone": "1", "same": "1", "other": "1"})
    new = made(version="2", data={"same": "1", "other": "2", "new": "1"})

    assert updated(old, new) == "3 keys; -gone +new ~other"


def test_bytes_are_keys_too() -> None:
    assert added(made(data={"a": "1"}, binaryData={"b": "AA=="})) == "2 keys"


def test_no_value_of_a_secret_is_told() -> None:
    old = made("Secret", data={"password": "b2xkLWNhbmFyeQ=="})
    new = made("Secret", version="2", data={"password": "bmV3LWNhbmFyeQ=="})

    assert updated(old, new) == "1 key; ~password"


def test_members_of_any_kind_are_named() -> None:
    old = made("Widget", spec={"size": 1}, metadata={"labels": {"a": "1"}})
    new = made("Widget", version="2", spec={"size": 2}, metadata={"annotations": {"b": "2"}})

    assert updated(old, new) == "spec, annotations, labels"


def test_what_changes_with_every_change_is_left_out() -> None:
    old = made("Widget", metadata={"generation": 1, "managedFields": []})
    new = made("Widget", version="2", metadata={"generation": 2, "managedFields": [{}]})

    assert updated(old, new) == ""


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            made(
                "Pod",
                status={
                    "phase": "Running",
                    "containerStatuses": [{"ready": True}, {"ready": False}],
                },
            ),
            "Running 1/2 ready",
        ),
        (made("Pod", status={"phase": "Pending"}), "Pending"),
        (made("Pod"), ""),
        (
            made("Deployment", spec={"replicas": 3}, status={"readyReplicas": 2}),
            "2/3 ready",
        ),
        (made("Deployment", spec={"replicas": 1}), "0/1 ready"),
        (made("Namespace", status={"phase": "Active"}), "Active"),
        (
            made("Node", status={"conditions": [{"type": "Ready", "status": "Unknown"}]}),
            "not ready",
        ),
        (made("Node", status={"conditions": [{"type": "Ready", "status": "True"}]}), "ready"),
        (made("Event", type="Warning", reason="BackOff"), "Warning BackOff"),
        (made("Widget"), ""),
        (made("Widget", status={"conditions": "none", "phase": 3}), ""),
        (made(data={"a": "1"}), "1 key"),
        (
            made(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            "is being deleted",
        ),
    ],
)
def test_the_state_of_an_object(item: AnyObject, expected: str) -> None:
    assert added(item) == expected


def test_a_deletion_that_was_missed_says_so() -> None:
    gone = made()

    assert details(Change("DELETED", gone, gone)) == ""
    assert details(Change("DELETED", gone, gone, stale=True)) == "while the server was away"


def test_other_bytes_of_the_same_meaning_are_no_difference() -> None:
    old = AnyObject(b'{"kind":"Widget","metadata":{"name":"a"},"spec":{"a":1,"b":2}}')
    new = AnyObject(b'{"kind":"Widget","metadata":{"name":"a"},"spec":{"b":2, "a":1}}')

    assert updated(old, new) == ""


def test_a_member_that_is_null_is_one_that_is_not_there() -> None:
    old = AnyObject(b'{"kind":"ConfigMap","metadata":{"name":"a"},"data":null}')
    new = AnyObject(b'{"kind":"ConfigMap","metadata":{"name":"a"}}')

    assert updated(old, new) == "0 keys"


def test_a_part_that_cannot_be_decoded_is_an_error_that_names_the_object() -> None:
    item = AnyObject(b'{"kind":"Pod","metadata":{"name":"a"},"status":{"phase":1e999}}')

    with pytest.raises(DecodeError, match="Pod a"):
        added(item)
