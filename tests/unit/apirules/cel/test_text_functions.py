from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules import regular_expressions
from reflet.apirules.cel.values import EvaluationError, NotEvaluated, OutOfBudget
from tests.unit.apirules.cel.expression_scene import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("text.contains('bc') && text.startsWith('a') && text.endsWith('f')", True),
        ("text.charAt(1) + text.charAt(6)", "b"),
        ("text.indexOf('c') + text.indexOf('c', 3) + text.indexOf('', 2)", 3),
        ("text.lastIndexOf('c') + text.lastIndexOf('c', 1) + text.lastIndexOf('')", 7),
        ("text.replace('b', 'x', 0) + text.replace('c', 'x')", "abcdefabxdef"),
        ("text.split('c')", ["ab", "def"]),
        ("text.split('', 2)", ["a", "bcdef"]),
        ("text.split('c', 0)", []),
        ("text.substring(1, 3) + text.substring(5)", "bcf"),
        ("text.upperAscii() + 'É'.lowerAscii()", "ABCDEFÉ"),
        ("'\\u2003 x\\t'.trim()", "x"),
        ("strings.quote('a\\n\"')", '"a\\n\\""'),
        ("['a', 'b'].join() + ['a', 'b'].join('-')", "aba-b"),
        ("text.matches('^[a-f]+$') && !matches(text, 'x')", True),
        ("text.find('[c-d]+')", "cd"),
        ("text.find('x')", ""),
        ("text.findAll('[ace]')", ["a", "c", "e"]),
        ("text.findAll('[ace]', 2)", ["a", "c"]),
        (
            "'%s|%d|%.1f|%x|%X|%b|%o|%%'.format([text, 3, 1.25, 10, 10, 5, 8])",
            "abcdef|3|1.2|a|A|101|10|%",
        ),
        (
            "'%s'.format([{'b': 1.5, 'a': [true, null, b'x']}])",
            '{"a":[true, null, b"x"], "b":1.500000}',
        ),
        (
            "'%s %s'.format([duration('90s'), timestamp('2024-01-01T00:00:00Z')])",
            "90s 2024-01-01T00:00:00Z",
        ),
        ("'%s'.format([[duration('1s')]])", '[duration("1s")]'),
        ("'%s %x %b'.format([type(1), 'az', true])", "int 617a 1"),
        ("'%f'.format([1234567.5])", "1,234,567.500000"),
    ],
)
def test_texts_are_searched_cut_and_made(text: str, value: Any) -> None:
    assert value_of(text, text="abcdef") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("text.charAt(9)", "index out of range: 9"),
        ("text.indexOf('a', -1)", "index out of range: -1"),
        ("text.lastIndexOf('a', -1)", "index out of range: -1"),
        ("text.substring(7)", "index out of range: 7"),
        ("text.substring(3, 2)", "invalid substring range. start: 3, end: 2"),
        ("text.matches(text + '(')", "Illegal regex: error parsing regexp: missing closing \\)"),
        ("'%q'.format([1])", "unrecognized formatting clause"),
        ("'%s'.format([])", "index 0 out of range"),
        ("''.format([1])", "too many arguments"),
        ("'%d'.format(['a'])", "decimal clause can only be used on integers"),
        ("'%f'.format([1])", "fixed-point clause can only be used on doubles"),
        ("'%x'.format([1.5])", "hex clause"),
        ("'%s'.format([optional.none()])", "string clause can only be used on"),
        ("self.join()", "join: invalid input"),
    ],
)
def test_what_cannot_be_done_with_a_text_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text, text="abcdef", self=[1])


@pytest.mark.parametrize(
    "text",
    [
        "text.replace('', text).replace('', text)",
        "numbers.map(x, text).join(text)",
        "'%.999999f'.format([1.0])",
    ],
)
def test_no_text_grows_without_an_end(text: str) -> None:
    with pytest.raises(OutOfBudget):
        value_of(text, 10**9, text="x" * 5000, numbers=[1] * 5000)


def test_patterns_that_take_long_are_not_tried_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    regular_expressions.compiled.cache_clear()

    with pytest.raises(NotEvaluated, match="too long"):
        value_of(
            "numbers.exists(x, text.matches('^(a+)+$'))", text="a" * 20 + "b", numbers=[1] * 99
        )

    regular_expressions.compiled.cache_clear()


def test_the_scientific_notation_is_not_written() -> None:
    with pytest.raises(NotEvaluated):
        value_of("'%e'.format([1.5])")
