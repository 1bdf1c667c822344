from __future__ import annotations

from collections.abc import Iterator

import pytest

from reflet.apirules import regular_expressions
from reflet.apirules.regular_expressions import MalformedExpression, Unbearable, compiled


@pytest.fixture(params=["re2", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "python":
        monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    compiled.cache_clear()
    yield request.param
    compiled.cache_clear()


def test_a_pattern_is_looked_for_anywhere(engine: str) -> None:
    assert compiled("b+").is_in("abbc")
    assert not compiled("^b").is_in("abbc")
    assert compiled("[a-c]").all_in("axbxc", -1) == ["a", "b", "c"]
    assert compiled("[a-c]").all_in("axbxc", 2) == ["a", "b"]


def test_what_go_cannot_do_is_refused(engine: str) -> None:
    with pytest.raises(MalformedExpression, match=r"invalid named capture: `\(\?<=a\)b`"):
        compiled("x(?<=a)b")
    for pattern in ("(?=a)", "(?!a)", "(?<=a)b", r"(a)\1", "(?:x(?=a))+"):
        with pytest.raises(MalformedExpression, match="error parsing regexp"):
            compiled(pattern)


def test_a_pattern_that_could_take_for_ever_does_not(engine: str) -> None:
    pattern = compiled("^(a+)+$")

    if engine == "re2":
        assert not pattern.is_in("a" * 50_000 + "b")
    else:
        with pytest.raises(Unbearable, match="too long"):
            pattern.is_in("a" * 50_000 + "b")


def test_digits_are_those_of_ascii(engine: str) -> None:
    assert not compiled(r"^\d$").is_in("٣")


def test_what_python_cannot_read_is_not_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    compiled.cache_clear()

    with pytest.raises(Unbearable, match="not one of Python's"):
        compiled(r"\pL").is_in("a")

    compiled.cache_clear()


def test_half_a_character_is_no_error() -> None:
    assert compiled("a").is_in("a\ud800")
