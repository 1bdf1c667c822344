"""Structs as Python source: it is checked, formatted, and runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflet.api.codec import decode, encode
from reflet.errors import ConfigurationError, DecodeError
from reflet.insight.custom_structs import classes_of
from reflet.insight.struct_source import shortened, source_of
from tests.unit.insight.test_custom_structs import definition

PORT = {
    "type": "object",
    "required": ["number"],
    "properties": {
        "number": {"x-kubernetes-int-or-string": True},
        "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "TCP"},
        "URL": {"type": "string", "default": ""},
        "tags-of": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SCHEMA = {
    "type": "object",
    "description": 'A "widget" with C:\\paths. It is more than that.',
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "from": {"type": "string", "format": "date-time", "description": "When it began."},
                "str": {"type": "string"},
                "tuple": {"type": "array", "items": {"type": "string"}},
                "ports": {"type": "array", "items": PORT},
                "x-list": {"type": "array", "items": {"type": "integer"}},
                "x-none": {"type": "integer"},
                "rest": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "anything": {"x-kubernetes-preserve-unknown-fields": True},
                "share": {"type": "number", "nullable": True},
                "blob": {"type": "string", "format": "byte"},
            },
        },
    },
}
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "a"},
    "spec": {
        "from": "2026-01-02T03:04:05Z",
        "str": "",
        "tuple": ["x"],
        "ports": [
            {"number": "http", "protocol": "UDP", "URL": "", "tags-of": {"a": "b"}},
            {"number": 80, "protocol": "TCP", "URL": "u"},
        ],
        "x-list": [1],
        "x-none": 0,
        "rest": {"deep": [{"er": 1}]},
        "anything": [1, "a", {}],
        "share": 0.5,
        "blob": "aGk=",
    },
}


def written() -> str:
    return source_of(classes_of(definition(schema=SCHEMA)), "widgets.example.com")


def made() -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "widgets"}
    exec(compile(written(), "widgets.py", "exec", dont_inherit=True), module)
    return module


def test_an_object_comes_back_as_it_was() -> None:
    widget = decode(json.dumps(WIDGET).encode(), made()["Widget"])

    assert json.loads(encode(widget)) == WIDGET


def test_an_object_that_does_not_fit_is_refused() -> None:
    wrong = {**WIDGET, "spec": {"ports": [{"number": 1, "protocol": "IPX"}]}}

    with pytest.raises(DecodeError) as raised:
        decode(json.dumps(wrong).encode(), made()["Widget"])

    assert raised.value.path == "spec.ports[0].protocol"


@pytest.mark.story
def test_what_is_written_passes_strict_checks_and_is_formatted(tmp_path: Path) -> None:
    path = tmp_path / "widgets.py"
    path.write_text(written())

    for command in (
        ["mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", str(path)],
        ["ruff", "format", "--isolated", "--check", str(path)],
        ["ruff", "check", "--isolated", str(path)],
    ):
        ended = subprocess.run(
            [sys.executable, "-m", *command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert ended.returncode == 0, ended.stdout


def test_the_first_sentence_is_the_docstring() -> None:
    assert made()["Widget"].__doc__ == "A 'widget' with C:/paths."


def test_the_first_word_alone_is_not_a_sentence() -> None:
    assert shortened("e.g. a widget. And so on.") == "e.g. a widget. And so on."
    assert len(shortened("word " * 100)) <= 90


def test_only_what_is_used_is_imported() -> None:
    text = source_of(classes_of(definition()), "widgets.example.com")

    assert [line for line in text.splitlines() if "import" in line] == [
        "from typing import ClassVar, Literal",
        "from reflet.api import ObjectMeta, TypedObject, constant",
    ]


def test_two_definitions_of_one_kind_need_two_modules() -> None:
    twice = [*classes_of(definition()), *classes_of(definition())]

    with pytest.raises(ConfigurationError, match="several classes would be called Widget"):
        source_of(twice, "two")
