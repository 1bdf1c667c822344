"""Comments that are about findings, and text that only looks like one."""

from __future__ import annotations

import pytest

from reflet.insight.lint.ignore_comments import ignored_lines

ALL = frozenset({"ALL"})


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: b\n", {}),
        ("a: b # reflet.dev/ignore: RFL009\n", {1: {"RFL009"}}),
        ("a: b # reflet.dev/ignore\n", {1: ALL}),
        (
            "a: b #reflet.dev/ignore : RFL002 , missing-key the chart sets it\n",
            {1: {"RFL002", "missing-key"}},
        ),
        ("a: b # why not: reflet.dev/ignore: RFL009\n", {}),
        ("# reflet.dev/ignore: RFL009\na: b\n", {2: {"RFL009"}}),
        ("a:\n  # reflet.dev/ignore: RFL009\n  # because\n  b: c\n", {4: {"RFL009"}}),
        (
            "# reflet.dev/ignore: RFL001\n# reflet.dev/ignore: RFL002\na: b # reflet.dev/ignore: x",
            {3: {"RFL001", "RFL002", "x"}},
        ),
        ("a: b\n# reflet.dev/ignore", {2: ALL}),
        ("a: b\r\nc: d # reflet.dev/ignore: RFL009\r\n", {2: {"RFL009"}}),
        ("a: \x0bb\n", {}),
        ("a: it's # reflet.dev/ignore: RFL009\n", {1: {"RFL009"}}),
        ("a: 'x' # reflet.dev/ignore: RFL009\n", {1: {"RFL009"}}),
        ("a: {b: [c, 'd # e']} # reflet.dev/ignore: RFL009\n", {1: {"RFL009"}}),
        ("a: |\n  x\n# reflet.dev/ignore: RFL009\nb: c\n", {4: {"RFL009"}}),
    ],
)
def test_a_comment_is_about_its_line_or_the_next(text: str, lines: dict[int, set[str]]) -> None:
    assert ignored_lines(text) == lines
    assert ignored_lines(text.encode()) == lines


@pytest.mark.parametrize(
    "text",
    [
        "a: 'x # reflet.dev/ignore: RFL009'\n",
        'a: "x # reflet.dev/ignore: RFL009"\n',
        'a: "x\n  # reflet.dev/ignore: RFL009"\n',
        "a: |\n  #!/bin/sh\n  # reflet.dev/ignore: RFL009\n  true\nb: c\n",
        "a: x#reflet.dev/ignore: RFL009\n",
        "annotations: {reflet.dev/ignore: RFL009}\n",
        "a: b # reflet.dev/ignored: RFL009\n",
        '{"a": "x # reflet.dev/ignore: RFL009"}\n',
    ],
)
def test_values_are_no_comments(text: str) -> None:
    assert ignored_lines(text) == {}


def test_what_is_no_yaml_is_read_up_to_its_mistake() -> None:
    text = "a: 'x # reflet.dev/ignore'\nb: c # reflet.dev/ignore\n{{ d }}: : [\n"

    assert ignored_lines(text) == {2: ALL}


def test_bytes_that_are_no_text_are_read_as_well() -> None:
    assert ignored_lines(b"a: \xff\nb: c # reflet.dev/ignore: RFL009\n") == {2: {"RFL009"}}
