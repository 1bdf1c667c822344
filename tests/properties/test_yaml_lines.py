"""Every place of every text has a line, and JSON has the same lines as YAML that it also is."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from reflet.api import field_path
from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import documents
from reflet.api.yaml.json_text import json_documents
from reflet.errors import DecodeError

WORDS = some.text("ab:,{}[]\"'\\é\n#- ", max_size=6)
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-9, 9) | WORDS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
PIECES = some.sampled_from(
    [
        "a",
        ": ",
        "\n",
        "\n  ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "&x ",
        "*x",
        "<<: *x",
        "'",
        '"',
        "\\'",
        "#",
        "|\n",
        "---\n",
        "...\n",
        "b: 1\n",
        "\r\n",
        "\u2028",
        "\ufeff",
        "!!str ",
        "\ue000",
    ]
)


def places(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        inner = [(field_path.with_key(path, key), part) for key, part in value.items()]
    elif isinstance(value, list):
        inner = [(field_path.with_index(path, index), part) for index, part in enumerate(value)]
    else:
        inner = []
    return [path, *(place for name, part in inner for place in places(part, name))]


@given(value=some.dictionaries(WORDS, VALUES, min_size=1), indent=some.sampled_from([None, 1, 4]))
def test_json_has_the_lines_of_yaml(value: dict[str, Any], indent: int | None) -> None:
    text = "\n" + json.dumps(value, indent=indent, ensure_ascii=False)

    (as_json,) = json_documents(text, "f")
    (as_yaml,) = documents(text, ManifestDialect("f"))

    assert as_json.value == as_yaml.value == value
    for place in places(value):
        assert as_json.line_of(place) == as_yaml.line_of(place)


@given(pieces=some.lists(PIECES, max_size=14))
def test_whatever_can_be_read_has_lines(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        found = list(documents(text, ManifestDialect("f", repeated_keys=True)))
    except DecodeError:
        return

    last = len(text.splitlines()) + 1
    for document in found:
        for place in places(document.value):
            assert 1 <= document.line_of(place) <= last
        assert all(1 <= warning.line <= last for warning in document.warnings)
