from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.schemas import Schema, Schemas
from reflet.apirules.validation.storage.internal_types import (
    difference,
    internal_name,
    internal_view,
    is_same,
)


def schema_of(type_name: str) -> Schema:
    return Schemas.recorded().lookup(f"io.k8s.api.core.v1.{type_name}")


def test_a_view_has_every_field_under_the_servers_names() -> None:
    source = {"volumeHandle": "h", "volumeAttributes": {"b": "1", "a": "2"}}

    view = internal_view(schema_of("CSIPersistentVolumeSource"), source)

    assert list(view.items())[:5] == [
        ("Driver", ""),
        ("VolumeHandle", "h"),
        ("ReadOnly", False),
        ("FSType", ""),
        ("VolumeAttributes", {"a": "2", "b": "1"}),
    ]
    assert view["NodeStageSecretRef"] is None


def test_one_type_has_names_of_its_own() -> None:
    view = internal_view(schema_of("RBDPersistentVolumeSource"), {"monitors": ["m"], "image": "i"})

    assert (view["CephMonitors"], view["RBDImage"], view["RadosUser"]) == (["m"], "i", "")


def test_what_the_server_uses_as_it_is_keeps_its_names() -> None:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "resources": {}}

    view = internal_view(schema_of("PersistentVolumeClaimSpec"), spec)

    assert view["Selector"] == {"matchLabels": {"a": "b"}}
    assert view["Resources"] == {"Limits": None, "Requests": None}


@pytest.mark.parametrize(
    ("name", "internal"), [("nfs", "NFS"), ("storageos", "StorageOS"), ("hostPath", "HostPath")]
)
def test_names(name: str, internal: str) -> None:
    assert internal_name(name) == internal


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ({"a": None}, {"a": []}, True),
        ({"a": {}}, {"a": None}, True),
        ({"a": None}, {"a": {"b": None}}, False),
        ([{"a": 1}], [{"a": 1}], True),
        ([1], [1, 2], False),
        ({"a": 0}, {"a": None}, False),
    ],
)
def test_empty_is_as_good_as_none(old: Any, new: Any, same: bool) -> None:
    assert is_same(old, new) is same


def test_a_difference_names_no_files() -> None:
    assert difference({"a": 1, "b": None}, {"a": 2, "b": None}) == (
        '@@ -1,4 +1,4 @@\n {\n- "a": 1,\n+ "a": 2,\n  "b": null\n }\n'
    )
