"""What is applied to nothing is what would be applied to an object that says nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.strict_decoding import check_body
from reflet.devserver.patches.managed_fields import managed_fields_of
from reflet.devserver.verbs.field_managers import FieldManager
from tests.real.good_objects import good_objects

KINDS = Kinds()
GOOD = {
    name: document
    for name, _, document in good_objects()
    if {"apiVersion", "kind"} <= document.keys()
}
NOBODYS: Final[dict[str, Any]] = {"f:metadata": {"f:annotations": {"f:somebody.example/else": {}}}}


@pytest.mark.parametrize("name", GOOD)
def test_the_short_way_gives_what_the_merge_gives(name: str) -> None:
    document = GOOD[name]
    kind = KINDS.by_kind(document["apiVersion"], document["kind"])
    assert kind is not None
    manager = FieldManager(kind, "", "me", datetime(2026, 1, 1, tzinfo=UTC))
    blank = dict(manager.target.blank)
    other = {
        "manager": "other",
        "operation": "Update",
        "apiVersion": kind.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": NOBODYS,
    }
    live = {**blank, "metadata": {**blank.get("metadata", {}), "managedFields": [other]}}

    short = manager.applied(None, document, force=True)
    long = manager.applied(live, document, force=True)

    assert (managed_fields_of(short) or []) == [
        entry for entry in managed_fields_of(long) if entry["manager"] == "me"
    ]
    assert read(kind, short) == read(kind, long)


def read(kind: Any, document: dict[str, Any]) -> dict[str, Any]:
    """The object that the server reads, without its managers."""
    made, _ = check_body(kind, document, kinds=KINDS)
    made["metadata"].pop("managedFields", None)
    return made
