import pytest

from reflet.api import field_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ()),
        ("kind", ("kind",)),
        ("spec.containers[0].env[12].value", ("spec", "containers", 0, "env", 12, "value")),
        ('data["tls.crt"]', ("data", "tls.crt")),
        ('items[3].data["a.b"]', ("items", 3, "data", "a.b")),
    ],
)
def test_a_path_leads_somewhere(path: str, expected: tuple[str | int, ...]) -> None:
    assert field_path.steps(path) == expected


@pytest.mark.parametrize(
    "key", ["a", 'quote"d', "back\\slash", "line\nbreak", "[0]", "x.y", "\\x41"]
)
def test_any_key_can_be_written_and_read(key: str) -> None:
    path = field_path.with_key("data", key)

    assert field_path.steps(path) == ("data", key)
    assert path.isprintable()


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("", "a", "a"),
        ("a", "", "a"),
        ("items[0]", "metadata.name", "items[0].metadata.name"),
        ("object", '["k"]', 'object["k"]'),
    ],
)
def test_paths_are_joined(outer: str, inner: str, expected: str) -> None:
    assert field_path.joined(outer, inner) == expected
