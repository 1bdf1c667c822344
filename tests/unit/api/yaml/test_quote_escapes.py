import pytest

from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import documents
from reflet.api.yaml.quote_escapes import with_stand_in
from reflet.errors import DecodeError


def values(text: str) -> list[object]:
    return [document.value for document in documents(text, ManifestDialect("f.yaml"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"""a: "it\'s" """, "it's"),
        (r"""a: "\'\'" """, "''"),
        (r"""a: "\\\'" """, "\\'"),
        (r"""a: "\\' \'" """, "\\' '"),
        ("a: \"one\n  \\'two\\' \\\n  three\"", "one 'two' three"),
        (r"""{a: "\'", b: 1}""", "'"),
        (r"""a: "\uE000\'" """, "\ue000'"),
        ('a: "\ue000\\\'"', "\ue000'"),
    ],
)
def test_an_escaped_quote_in_double_quotes_is_a_quote(text: str, expected: str) -> None:
    assert values(text)[0]["a"] == expected  # type: ignore[index]  # it is a mapping


def test_elsewhere_a_backslash_stays_one() -> None:
    text = "a: 'c:\\'\nb: it\\'s  # isn\\'t\nc: |\n  it\\'s\nit\\'s: d\ne: \"it\\'s\"\n"

    assert values(text) == [
        {"a": "c:\\", "b": "it\\'s", "c": "it\\'s\n", "it\\'s": "d", "e": "it's"}
    ]


def test_documents_before_the_escape_come_once() -> None:
    assert values('a: 1\n---\nb: "\\\'"\n---\nc: 3\n') == [{"a": 1}, {"b": "'"}, {"c": 3}]


def test_each_text_with_escapes_is_warned_of() -> None:
    text = "a: \"\\'x\\'\"\nb: 'c:\\'\nc: \"\\'\"\n"

    (document,) = documents(text, ManifestDialect("f.yaml"))

    assert [(warning.line, warning.kind) for warning in document.warnings] == [
        (1, "escape"),
        (3, "escape"),
    ]
    assert document.warnings[0].message.startswith("\\' in double quotes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"""a: "\q" """, "f.yaml:1: found unknown escape"),
        ('a: "\\\'"\nb: "\\q"', "f.yaml:2: found unknown escape"),
        ('a: "\\\'"\n\tb: 1', "f.yaml:2: found character"),
        ("a: \"\\'", "f.yaml:1: found unexpected end"),
    ],
)
def test_other_mistakes_are_told_as_ever(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        values(text)

    assert str(caught.value).startswith(message)


def test_many_escapes_take_two_readings() -> None:
    count = 20_000
    (found,) = values("\n".join('- "it\\\'s"' for _ in range(count)))

    assert found == ["it's"] * count


def test_a_text_that_has_every_stand_in_is_refused() -> None:
    letters = "".join(chr(code) for code in range(0xE000, 0xF900))

    assert with_stand_in(letters) == (letters, "")
    with pytest.raises(DecodeError, match="unknown escape"):
        values(f'# {letters}\na: "\\\'"')
