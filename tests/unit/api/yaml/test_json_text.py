import json
import sys
from collections.abc import Callable

import pytest

from reflet.api.yaml.json_text import DEEPEST_PLACE, json_documents
from reflet.errors import DecodeError

LIST = """
{
    "kind": "List",
    "items": [
        {"kind": "A", "spec": {
            "x": [1,
                  {"deep": true}]}
        },

        {"kind": "B"}
    ],
    "after": "a, b: [c] {d}",
    "last": null
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 2),
        ("kind", 3),
        ("items", 4),
        ("items[0]", 5),
        ("items[0].spec.x[0]", 6),
        ("items[0].spec.x[1].deep", 7),
        ("items[0].spec.x[2]", 6),
        ("items[0].kind.more", 5),
        ("items[1].kind", 10),
        ("after", 12),
        ("last", 13),
        ("missing", 2),
    ],
)
def test_a_path_has_a_line(path: str, line: int) -> None:
    (document,) = json_documents(LIST, "f.json")

    assert document.value == json.loads(LIST)
    assert document.line_of(path) == line


def test_documents_follow_each_other() -> None:
    first, second = json_documents('{"a":\n1}\n\n{"b":\n\n2}', "f.json")

    assert (first.line, first.line_of("a")) == (1, 2)
    assert (second.line, second.line_of("b")) == (4, 6)


def test_keys_with_escapes_are_found() -> None:
    (document,) = json_documents('{"d": {\n"a\\"b": 1,\n"\\u00e9": 2}}', "f.json")

    assert document.line_of('d["a\\"b"]') == 2
    assert document.line_of('d["é"]') == 3


def test_of_a_key_that_is_there_twice_the_last_one_counts() -> None:
    text = (
        '{"a": 1,\n"b": [{"c": 1, "x": "c", "d": {"c": 2}},\n{"c": 1, "\\u0063": 3}],\n"a": 2}'
        '\n{"a": 1}\n{"a": 1,\n"a": {"b": 1}}'
    )

    documents = json_documents(text, "f.json")

    assert documents[0].value == {"a": 2, "b": [{"c": 1, "x": "c", "d": {"c": 2}}, {"c": 3}]}
    assert [[(each.line, each.message) for each in found.warnings] for found in documents] == [
        [
            (3, 'the key "c" is there twice; the last one counts'),
            (4, 'the key "a" is there twice; the last one counts'),
        ],
        [],
        [(7, 'the key "a" is there twice; the last one counts')],
    ]
    assert documents[2].line_of("a.b") == 7


def test_a_warning_knows_the_item_it_is_in() -> None:
    text = (
        '{"items": [{"a": [1, 2]}, {"kind": "X", "items": [{}, [], {"b": {"c": 1, "c": 2}}]}],'
        '"other": [{"e": 1, "e": 1}]}'
    )

    (document,) = json_documents(text, "f.json")

    assert [warning.items for warning in document.warnings] == [(1, 2), ()]


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": 1e999}', '{"a": 1} x', "{a: 1}", '{"a": ' * 100_000]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        json_documents(text, "f.json")


def test_each_value_is_passed_over_once_for_all_questions() -> None:
    items = ",\n".join('{"spec": {"a": 1}}' for _ in range(300))
    (document,) = json_documents('{"items": [\n' + items + "]}", "f.json")
    document.line_of("items[0].spec.a")

    calls = calls_of(lambda: [document.line_of(f"items[{n}]") for n in range(300)])

    assert document.line_of("items[299].spec.a") == 301
    assert calls["raw_decode"] == 0


def test_a_hostile_depth_has_the_line_of_what_is_around_it() -> None:
    depth = 2 * DEEPEST_PLACE
    (document,) = json_documents('{"a":\n' * depth + "1" + "}" * depth, "f.json")

    assert document.line_of(".".join(["a"] * depth)) == DEEPEST_PLACE + 1


def calls_of(work: Callable[[], object]) -> dict[str, int]:
    calls = {"raw_decode": 0}

    def profile(frame: object, event: str, _: object) -> None:
        name = frame.f_code.co_name  # type: ignore[attr-defined]  # it is a frame
        if event == "call" and name in calls:
            calls[name] += 1

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls
