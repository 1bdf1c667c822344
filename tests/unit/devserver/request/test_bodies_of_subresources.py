from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.devserver.request.bodies import Body, read_subresource, subresource_kind
from reflet.errors import BadRequest
from tests.unit.devserver.object_scene import KINDS


def read(subresource: str, document: Any, warnings: list[str] | None = None) -> dict[str, Any]:
    body = Body(json.dumps(document).encode())
    noted = [] if warnings is None else warnings
    return read_subresource(KINDS, subresource, body, validation="Warn", warnings=noted)


@pytest.mark.parametrize(
    ("subresource", "api_version", "kind"),
    [
        ("token", "authentication.k8s.io/v1", "TokenRequest"),
        ("binding", "v1", "Binding"),
        ("eviction", "policy/v1", "Eviction"),
        ("scale", "autoscaling/v1", "Scale"),
    ],
)
def test_every_subresource_has_a_kind_of_its_own(
    subresource: str, api_version: str, kind: str
) -> None:
    found = subresource_kind(KINDS, subresource)

    assert (found.api_version, found.kind) == (api_version, kind)
    assert found.schema.field("metadata") is not None


def test_a_body_need_not_say_its_kind() -> None:
    made = read("scale", {"spec": {"replicas": 3}})

    assert (made["kind"], made["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert made["spec"] == {"replicas": 3}


def test_a_body_of_another_kind_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"cannot be handled as a Binding: converting \(v1\.Pod\)"):
        read("binding", {"apiVersion": "v1", "kind": "Pod"})


def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"ScaleSpec\.spec\.replicas of type int32"):
        read("scale", {"spec": {"replicas": "x"}})


def test_unknown_fields_are_warned_of() -> None:
    warnings: list[str] = []

    read("eviction", {"odd": 1}, warnings)

    assert warnings == ['unknown field "odd"']
