import re

import pytest

from reflet.gotext.lazy_patterns import lazy_pattern


def test_it_finds_what_the_compiled_pattern_finds() -> None:
    pattern = lazy_pattern(r"([a-z])(\d)?", re.ASCII)

    assert pattern.fullmatch("a1") is not None
    assert pattern.fullmatch("1") is None
    assert pattern.sub("x", "a1-b") == "x-x"
    assert (pattern.groups, pattern.pattern) == (2, r"([a-z])(\d)?")


def test_flags_count() -> None:
    assert lazy_pattern("a.b", re.DOTALL).match("a\nb")
    assert lazy_pattern("a.b").match("a\nb") is None


def test_it_is_compiled_at_the_first_use() -> None:
    broken = lazy_pattern("(")

    with pytest.raises(re.error):
        broken.match("")


def test_it_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = lazy_pattern("a")
    assert pattern.match("a")
    monkeypatch.setattr(re, "compile", None)

    assert pattern.fullmatch("a")
