"""Answers as YAML."""

from __future__ import annotations

import pytest

from reflet.apirules.schema.yaml_reading import read_yaml
from reflet.devserver.printing.representations import write_yaml


def test_keys_are_in_order_and_lists_are_not_indented() -> None:
    assert write_yaml({"b": [1], "a": {"y": "x"}}) == b'a:\n  "y": x\nb:\n- 1\n'


@pytest.mark.parametrize("text", ["y", "n", "yes", "1", "1.5", "null", "~", "", "a: b", "- a"])
def test_a_text_is_read_back_as_a_text(text: str) -> None:
    assert read_yaml(write_yaml({"x": text})) == {"x": text}


@pytest.mark.parametrize("text", ["a\nb\n", "a\n\nb", "  a\n", "tab\there", "naïve ☃\n", "a\r\nb"])
def test_several_lines_are_read_back_as_they_were(text: str) -> None:
    assert read_yaml(write_yaml({"x": text})) == {"x": text}


def test_the_same_value_twice_is_written_twice() -> None:
    shared = {"a": 1}

    assert b"&" not in write_yaml({"x": shared, "y": shared})
