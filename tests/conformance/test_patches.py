"""Every recorded patch, carried out as the real server did it.

The records are written by ``tests/conformance/recorder/record_patches.py``.  What a patch makes
is read as its kind, as the server does, and compared without what the server alone writes:
versions, and the part of an object that a request cannot change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.apirules.refusals import status_document
from reflet.apirules.schema.decoding import decode, empty_object
from reflet.apirules.schema.kinds import custom_kinds
from reflet.apirules.schema.schemas import Schemas
from reflet.devserver.patches.json_patch import json_patch, merge_patch
from reflet.devserver.patches.managed_fields import managed_fields_of
from reflet.devserver.patches.patch_bodies import (
    read_applied,
    read_json_patch,
    read_merge_patch,
    read_strategic_patch,
)
from reflet.devserver.patches.server_side_apply import ApplyTarget, apply, track_update
from reflet.devserver.patches.strategic_merge import strategic_merge
from reflet.devserver.verbs.field_managers import custom_reset_fields, reset_fields
from reflet.errors import ApiError
from tests.conformance.recorder.scenes import WIDGET_DEFINITION

Record = Mapping[str, Any]

RECORDS: Final[list[Record]] = json.loads(
    (Path(__file__).parent / "data" / "patches.json").read_text()
)
TYPES: Final = {
    "ConfigMap": ("io.k8s.api.core.v1.ConfigMap", "v1", "configmaps"),
    "Pod": ("io.k8s.api.core.v1.Pod", "v1", "pods"),
    "Service": ("io.k8s.api.core.v1.Service", "v1", "services"),
    "Deployment": ("io.k8s.api.apps.v1.Deployment", "apps/v1", "deployments.apps"),
}
NEVER: Final = "2099-01-01T00:00:00Z"
WRITTEN_BY_THE_SERVER: Final = (
    *("resourceVersion", "generation", "uid", "creationTimestamp", "namespace", "managedFields"),
)


@cache
def target_of(kind: str, subresource: str) -> ApplyTarget:
    if kind == "Widget":
        (widget,) = custom_kinds(WIDGET_DEFINITION, Schemas.recorded())
        return ApplyTarget(
            schema=widget.schema,
            api_version="example.test/v1",
            kind=kind,
            blank={},
            subresource=subresource,
            reset=custom_reset_fields(subresource, has_status=True),
        )
    type_name, api_version, resource = TYPES[kind]
    schema = Schemas.recorded().lookup(type_name)
    assert schema.structure is not None
    return ApplyTarget(
        schema=schema,
        api_version=api_version,
        kind=kind,
        blank=empty_object(schema.structure),
        subresource=subresource,
        reset=reset_fields(resource, subresource),
    )


def read_as_kind(kind: str, document: Any) -> dict[str, Any]:
    """Read an object of a built-in kind as the server does; custom objects stay as they are."""
    if kind == "Widget":
        assert isinstance(document, dict)
        return document
    schema = Schemas.recorded().lookup(TYPES[kind][0])
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        **decode(schema, document, []),
    }


def time_of(record: Record) -> str:
    """Give the time at which the server acted, or one that must not appear."""
    before = {entry.get("time") for entry in managed_fields_of(record["live"] or {}) or ()}
    after = {entry.get("time") for entry in managed_fields_of(record["answer"]) or ()}
    new = after - before - {None}
    return str(new.pop()) if new else NEVER


def play(record: Record) -> dict[str, Any]:
    """Carry out the request of a record and return the object, with its managed fields."""
    request, live, kind = record["request"], record["live"], record["kind"]
    target = target_of(kind, request["subresource"])
    body = request["body"].encode()
    manager, now = request["manager"], time_of(record)
    match request["content_type"].removeprefix("application/"):
        case "apply-patch+yaml":
            result = apply(
                target, live, read_applied(body), manager=manager, force=request["force"], now=now
            )
            return read_as_kind(kind, result)
        case "json-patch+json":
            patched = json_patch(live, read_json_patch(body, []))
        case "merge-patch+json":
            patched = merge_patch(live, read_merge_patch(body, []))
        case "strategic-merge-patch+json":
            patched = strategic_merge(live, read_strategic_patch(body, []), target.schema)
        case _:
            patched = json.loads(body)
    new = read_as_kind(kind, patched)
    carried = managed_fields_of(patched)
    return track_update(target, live, new, manager=manager, now=now, entries=carried)


def comparable(document: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Leave out what the server writes itself or does not let the request change."""
    request = record["request"]
    metadata = {
        name: value
        for name, value in document["metadata"].items()
        if name not in WRITTEN_BY_THE_SERVER
    }
    kept = "spec" if request["subresource"] == "status" else "status"
    return {**{name: part for name, part in document.items() if name != kept}, "metadata": metadata}


def is_part_of(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and is_part_of(part[name], whole[name]) for name in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(is_part_of, part, whole))
    return bool(part == whole)


def in_any_order(status: dict[str, Any]) -> dict[str, Any]:
    """Sort what the server lists in the order of a Go map, which is none."""
    details = status.get("details") or {}
    causes = sorted(details.get("causes", ()), key=json.dumps)
    return {
        **status,
        "message": sorted(status["message"].split("\n")),
        "details": {**details, "causes": causes},
        "has details": "details" in status,
    }


def named(records: list[Record]) -> list[Any]:
    return [pytest.param(record, id=record["name"]) for record in records]


def is_refused_by_others(record: Record) -> bool:
    """Tell whether an object was made, and refused by validation or by a version."""
    return "name" in (record["answer"].get("details") or {})


DONE: Final = [record for record in RECORDS if record["code"] < 400]
PATCHED: Final = [record for record in DONE if record["request"]["method"] == "PATCH"]
REFUSED: Final = [
    record for record in RECORDS if record["code"] >= 400 and not is_refused_by_others(record)
]
MADE_AND_REFUSED: Final = [
    record for record in RECORDS if record["code"] >= 400 and is_refused_by_others(record)
]


def test_there_are_enough_records_of_every_sort() -> None:
    assert (len(DONE) > 150, len(REFUSED) > 100) == (True, True)


@pytest.mark.parametrize("record", named(PATCHED))
def test_the_object_is_the_one_that_the_server_made(record: Record) -> None:
    made, expected = comparable(play(record), record), comparable(record["answer"], record)

    # Somebody who creates an object gets more than was asked for.
    assert is_part_of(made, expected) if record["live"] is None else made == expected


@pytest.mark.parametrize("record", named(DONE))
def test_managed_fields_are_those_that_the_server_wrote(record: Record) -> None:
    made = managed_fields_of(play(record))

    assert made == managed_fields_of(record["answer"])


@pytest.mark.parametrize("record", named(REFUSED))
def test_the_refusal_is_the_one_of_the_server(record: Record) -> None:
    with pytest.raises(ApiError) as refused:
        play(record)

    assert in_any_order(status_document(refused.value)) == in_any_order(record["answer"])


@pytest.mark.parametrize("record", named(MADE_AND_REFUSED))
def test_what_others_refuse_is_not_refused_by_patching(record: Record) -> None:
    made = play(record)

    assert made["metadata"]["name"] == record["answer"]["details"]["name"]


@pytest.mark.parametrize("record", named(RECORDS))
def test_nothing_that_goes_in_is_changed(record: Record) -> None:
    before = json.dumps(record)

    with suppress(ApiError):
        play(record)

    assert json.dumps(record) == before
