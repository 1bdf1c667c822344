"""Objects of a server as JSON and YAML: what is shown, and that a list is one document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import yaml

from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import write_yaml
from reflet.cli.output import server_objects
from reflet.cli.output.server_objects import (
    json_line,
    json_text,
    packed,
    shown,
    write_json_list,
    write_yaml_list,
)

PLAIN: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "managedFields": [{"manager": "kubectl"}]},
    "data": {"text": "one\n\n  two\nthree\n", "z": "", "empty": "\n", "ü": "‹ü›"},
}
NESTED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Widget",
    "metadata": {"name": "b"},
    "spec": {"list": [1, 2.5, None, True, {"x": []}, [[]]], "none": {}, "long": "word " * 40},
}

Write = Callable[[Iterable[bytes], Callable[[str], object]], None]


def written(write: Write, *documents: dict[str, Any]) -> str:
    texts: list[str] = []
    write(map(packed, documents), texts.append)
    return "".join(texts)


def as_list(*documents: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "items": list(documents),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


@pytest.mark.parametrize("documents", [(), (PLAIN,), (PLAIN, NESTED)])
def test_a_list_of_json_is_what_one_dump_of_it_would_be(documents: tuple[Any, ...]) -> None:
    whole = json.dumps(as_list(*documents), indent=4, ensure_ascii=False, sort_keys=True)
    # Empty lists and mappings stand in one line either way.
    assert written(write_json_list, *documents) == whole + "\n"


@pytest.mark.parametrize("documents", [(), (PLAIN,), (PLAIN, NESTED)])
def test_a_list_of_yaml_is_what_one_dump_of_it_would_be(documents: tuple[Any, ...]) -> None:
    text = written(write_yaml_list, *documents)

    assert text == write_yaml(as_list(*documents))
    assert yaml.safe_load(text) == as_list(*documents)


def test_much_is_written_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_objects, "ENOUGH_TEXT", 100)
    parts: list[str] = []

    write_json_list([packed(NESTED)] * 5, parts.append)

    assert len(parts) > 3
    assert len(json.loads("".join(parts))["items"]) == 5


def test_who_manages_a_field_is_for_those_who_ask() -> None:
    item = AnyObject.from_dict(PLAIN)

    assert shown(item, reveal=False, managed_fields=True) == PLAIN
    assert shown(item, reveal=False, managed_fields=False)["metadata"] == {"name": "a"}


def test_the_values_of_a_secret_are_for_those_who_ask() -> None:
    secret = {**PLAIN, "kind": "Secret", "data": {"k": "aHVzaA=="}}
    item = AnyObject.from_dict(secret)

    assert shown(item, reveal=True, managed_fields=False)["data"] == {"k": "aHVzaA=="}
    assert shown(item, reveal=False, managed_fields=False)["data"] == {"k": "‹secret 4 B›"}


def test_metadata_that_is_none_is_left_alone() -> None:
    item = AnyObject(b'{"kind": "Widget", "apiVersion": "v1", "metadata": null}')

    assert shown(item, reveal=False, managed_fields=False)["metadata"] is None


@pytest.mark.parametrize("form", [json_text, json_line])
@pytest.mark.parametrize("power", ["\x9b31m", "\x7f", "\u202e", "\u2066", "\x1b[31m"])
def test_json_has_no_power_over_a_terminal(form: Callable[[bytes], str], power: str) -> None:
    text = form(packed({"data": f"ü{power}"}))

    assert power[0] not in text
    assert json.loads(text) == {"data": f"ü{power}"}
