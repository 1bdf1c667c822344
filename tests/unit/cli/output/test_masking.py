"""No secret on a screen."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest

from reflet.cli.output.masking import LAST_APPLIED, mask, masked

CANARY = "canary-in-the-mine"
ENCODED = base64.b64encode(CANARY.encode()).decode()


def secret(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, **fields}


SECRETS: dict[str, dict[str, Any]] = {
    "data": secret(data={"k": ENCODED}),
    "string data": secret(stringData={"k": CANARY}),
    "broken base64": secret(data={"k": f"{CANARY}!"}),
    "a value that is no text": secret(data={"k": [CANARY]}, stringData={"k": {"x": CANARY}}),
    "data that is no mapping": secret(data=[ENCODED], stringData=CANARY),
    "what kubectl applied": secret(
        metadata={"name": "s", "annotations": {LAST_APPLIED: json.dumps({"k": CANARY})}}
    ),
    "items that make it look like a list": secret(items=[], data={"k": ENCODED}),
    "in a list": {"kind": "List", "items": [{"kind": "ConfigMap"}, secret(data={"k": ENCODED})]},
    "in a list in a list": {
        "kind": "List",
        "items": [{"kind": "List", "items": [secret(data={"k": ENCODED})]}],
    },
    "in a list whose items do not say what they are": {
        "kind": "SecretList",
        "items": [{"metadata": {"name": "s"}, "data": {"k": ENCODED}}],
    },
}


@pytest.mark.parametrize("document", SECRETS.values(), ids=SECRETS)
def test_no_value_of_a_secret_is_shown(document: dict[str, Any]) -> None:
    shown = json.dumps(masked(document), ensure_ascii=False)

    assert CANARY not in shown
    assert ENCODED not in shown
    assert "‹secret " in shown


@pytest.mark.parametrize("document", SECRETS.values(), ids=SECRETS)
def test_the_object_itself_is_not_changed(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)

    masked(document)

    assert document == before


def test_the_mask_tells_the_size_of_the_value() -> None:
    document = secret(
        data={"text": ENCODED, "empty": "", "nothing": None, "broken": "a!"},
        stringData={"umlaut": "ä", "odd": "\ud800"},
    )

    assert masked(document)["data"] == {
        "text": mask(18),
        "empty": mask(0),
        "nothing": mask(0),
        "broken": mask(2),
    }
    assert masked(document)["stringData"] == {"umlaut": mask(2), "odd": mask(3)}


def test_everything_else_of_a_secret_stays() -> None:
    metadata = {"name": "s", "labels": {"a": "b"}, "annotations": {"note": "x", LAST_APPLIED: "{}"}}
    document = secret(type="Opaque", immutable=True, data={"k": ENCODED}, metadata=metadata)

    shown = masked(document)

    assert shown == {
        **document,
        "data": {"k": mask(18)},
        "metadata": {**metadata, "annotations": {"note": "x", LAST_APPLIED: mask(2)}},
    }


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "ConfigMap", "data": {"k": "v"}},
        {"kind": "ConfigMap", "metadata": {"annotations": {LAST_APPLIED: "{}"}}},
        {"kind": "List", "items": ["not an object", None]},
        {"kind": "Secret"},
        {"kind": "Secret", "data": None, "metadata": None},
        {"kind": "Secret", "metadata": {"annotations": None}},
        {},
    ],
)
def test_what_holds_no_secret_is_shown_as_it_is(document: dict[str, Any]) -> None:
    assert masked(document) == document
