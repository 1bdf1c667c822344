import pytest

from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import documents
from reflet.errors import DecodeError


def values(text: str) -> list[object]:
    return [node.value for node in documents(text, ManifestDialect("f.yaml"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("---\n---\na: 1\n---\n", [None, {"a": 1}, None]),
        ("a: [1, '1', \"1\", !!str 1, !other 1, !!float 1]", [{"a": [1, "1", "1", "1", "1", 1]}]),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", [{"a": "x\ny\n", "b": "x y"}]),
        ("yes: a\n1: b\n1.5: c\n0x10: d", [{"true": "a", "1": "b", "1.5": "c", "16": "d"}]),
        ("a: &x {k: v}\nb: *x", [{"a": {"k": "v"}, "b": {"k": "v"}}]),
        ("a: &x 5\n*x : b", [{"a": 5, "5": "b"}]),
        ("&x a: *x", [{"a": "a"}]),
        ("a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}", [{"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}]),
        ("b: {<<: [{k: 1}, {k: 2, m: 3}]}", [{"b": {"k": 1, "m": 3}}]),
        ('"<<": 1', [{"<<": 1}]),
        ("a: !!binary aGk=", [{"a": "hi"}]),
        ("a: 2026-01-02", [{"a": "2026-01-02"}]),
        ("%YAML 1.1\n---\na: b", [{"a": "b"}]),
        # As Kubernetes' reader has it: what is merged later counts more than what was there.
        ("b: {k: 3, <<: {k: 1}, m: 2}", [{"b": {"k": 1, "m": 2}}]),
        ("b: {!!merge <<: {k: 1}}", [{"b": {"k": 1}}]),
        (".inf: a", [{".inf": "a"}]),
        ("\ufeff{a: b}", [{"a": "b"}]),
    ],
)
def test_documents_become_values(text: str, expected: list[object]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", 'f.yaml:3: the key "a" is there twice'),
        ("yes: 1\non: 2", 'f.yaml:2: the key "true" is there twice'),
        ("a: [1,\n2", "f.yaml:2: did not find"),
        ("a:\n\tb: c", "f.yaml:2: found character"),
        ("a: *b", "f.yaml:1: an alias names no anchor"),
        ("a: &a [*a]", "f.yaml:1: a value that contains itself"),
        ("? [a]\n: b", "f.yaml:1: a key must be"),
        ("~: b", "f.yaml:1: a key must be"),
        ("? {a: b}\n: c", "f.yaml:1: a key must be"),
        ("a: &x [{k: 1}]\nb: {<<: *x}", "f.yaml:2: only mappings"),
        ("a: b\n---\n%YAML 1.2\n---\nc: d", "f.yaml:3: "),
        ("a: b\n...\n%YAML 1.2\n---\nc: d", "f.yaml:3: Kubernetes reads YAML 1.1"),
        ("a: &x [1]\n*x : b", "f.yaml:2: a key must be"),
        ("a: {<<: 5}", "f.yaml:1: only mappings"),
        ("a: .nan", "f.yaml:1: .nan is not a number"),
        ("a: !!int x", "f.yaml:1: a value that is no int"),
        ("a: !!binary '*'", "f.yaml:1: !!binary"),
        ("a: \x00", "f.yaml:1: "),
        ("[" * 100_000, "f.yaml:1: nested too deeply"),
        ("{a: " * 100_000, "f.yaml:1: nested too deeply"),
        ("- " * 20_000, "f.yaml:1: nested too deeply"),
    ],
)
def test_a_mistake_is_named_by_its_line(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        values(text)

    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_aliases_cannot_multiply_without_bound() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]

    with pytest.raises(DecodeError, match="aliases make this too large"):
        values("\n".join(lines))


def test_long_texts_cannot_be_multiplied_either() -> None:
    text = f"a: &a '{'x' * 1_000_000}'\nb: [{', '.join(['*a'] * 1000)}]"

    with pytest.raises(DecodeError, match="aliases make this too large"):
        values(text)


def test_aliases_cannot_nest_without_bound() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [
        f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, ManifestDialect.deepest + 1)
    ]

    with pytest.raises(DecodeError, match="nested too deeply"):
        values("\n".join(lines))


def test_anchors_end_with_their_document() -> None:
    with pytest.raises(DecodeError, match=r"f\.yaml:3: an alias"):
        values("a: &x 1\n---\nb: *x")


def test_a_syntax_error_does_not_quote_the_text() -> None:
    with pytest.raises(DecodeError) as caught:
        values("password: hunter2: x")

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 1),
        ("kind", 1),
        ("spec.containers[1].name", 5),
        ("spec.containers[1].image", 5),
        ('data["tls.crt"]', 7),
        ("spec.containers[9]", 4),
        ("missing.altogether", 1),
    ],
)
def test_a_path_has_a_line(path: str, line: int) -> None:
    text = "kind: Pod\nspec:\n  containers:\n  - name: a\n  - name: b\ndata:\n  tls.crt: x\n"

    (node,) = documents(text, ManifestDialect("f.yaml"))

    assert node.line_of(path) == line


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a: 1\n---\n\nb:\n  c: 2\n", "b.c", 5),  # in the second document
        ("# x\n   a:\n     b: 1\n   c: 2\n", "c", 4),  # indented from the first line on
        ("--- {a: 1,\n b: 2}\n", "b", 2),
        ("%YAML 1.1\n---\na: 1\nb: 2\n", "b", 4),
        ("a: &x\n  k: 1\nb: *x\n", "b.k", 2),
        ("a: &x 1\nb: *x\n", "b", 2),
        ("a: {k: 1}\nb:\n  <<: {m: 2}\n  n: 3\n", "b.m", 3),
        ("a: 1\na:\n  b: 2\n", "a.b", 3),
        ("é: 1\r\nb: 2\r\n---\r\nc:\r\n  d: 3\r\n", "c.d", 5),
        ("\ufeffa: 1\nb: 2\n", "b", 2),
        ('a: "it\\\'s"\nb: 2\n', "b", 2),
    ],
)
def test_lines_are_those_of_the_whole_text(text: str, path: str, line: int) -> None:
    *_, last = documents(text, ManifestDialect("f.yaml", repeated_keys=True))

    assert last.line_of(path) == line


def warned(text: str) -> list[tuple[int, str, str, tuple[int, ...]]]:
    return [
        (warning.line, warning.kind, warning.message, warning.items)
        for document in documents(text, ManifestDialect("f.yaml", repeated_keys=True))
        for warning in document.warnings
    ]


def test_a_repeated_key_may_be_accepted_with_a_warning() -> None:
    text = "a: 1\nb:\n- {c: 1, c: 2}\na: 3\n---\nx: 1\n---\nyes: 1\non: 2\n"
    accepting = ManifestDialect("f.yaml", repeated_keys=True)

    assert [document.value for document in documents(text, accepting)] == [
        {"a": 3, "b": [{"c": 2}]},
        {"x": 1},
        {"true": 2},
    ]
    assert warned(text) == [
        (3, "repeated key", 'the key "c" is there twice; the last one counts', ()),
        (4, "repeated key", 'the key "a" is there twice; the last one counts', ()),
        (9, "repeated key", 'the key "true" is there twice; the last one counts', ()),
    ]


def test_a_warning_knows_the_item_it_is_in() -> None:
    text = 'items:\n- {a: 1}\n- items: [{}, {b: {c: 1, c: 2, d: "\\\'"}}]\nother: [{e: 1, e: 1}]\n'

    assert [(kind, items) for _, kind, _, items in warned(text)] == [
        ("repeated key", (1, 1)),
        ("escape", (1, 1)),
        ("repeated key", ()),
    ]


def test_what_replaces_a_merged_key_is_no_repetition() -> None:
    assert warned("a: &x {k: 1}\nb: {<<: *x, k: 2}\n") == []
    assert len(warned("a: &x {k: 1}\nb: {<<: *x, k: 2, k: 3}\n")) == 1


def test_many_inline_mappings_are_merged_in_linear_time() -> None:
    count = 10_000
    text = f"a:\n  <<: [{', '.join(f'{{k{n}: 1}}' for n in range(count))}]\n"

    assert len(values(text)[0]["a"]) == count  # type: ignore[index]  # it is a mapping
