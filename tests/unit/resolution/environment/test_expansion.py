"""Expansion of ``$(NAME)``."""

from __future__ import annotations

import tracemalloc

import pytest

from reflet.resolution.environment.expansion import (
    LARGEST_EXPANSION,
    OversizedExpansion,
    expand,
    expand_all,
    expand_pieces,
    expanded_size,
    references_in,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", ()),
        ("$(A)-$(B)-$(A)", ("A", "B", "A")),
        ("$$(A) $(", ()),
        ("$(A$(B))", ("A$(B",)),
        ("$()", ("",)),
    ],
)
def test_references_are_named_in_order(text: str, names: tuple[str, ...]) -> None:
    assert references_in(text) == names


def test_a_value_is_not_read_again() -> None:
    assert expand("$(A)", {"A": "$(A)$$"}.get) == "$(A)$$"


def test_what_follows_the_last_parenthesis_still_has_its_dollars_unescaped() -> None:
    assert expand("$(A)$$(B$$$", {"A": "a"}.get) == "a$(B$$"


def test_a_text_of_open_references_takes_no_longer_than_it_is_long() -> None:
    looked_up: list[str] = []

    expanded = expand("$(" * 200_000, looked_up.append)

    assert (len(expanded), looked_up) == (400_000, [])


def test_the_pieces_tell_the_size_before_the_text_is_made() -> None:
    pieces = expand_pieces("<$(A)>", {"A": "12345"}.get)

    assert sum(map(len, pieces)) == 7


def test_several_texts_are_expanded_together() -> None:
    assert expand_all(["$(A)", "b", "$(A)$$"], {"A": "a"}.get) == ("a", "b", "a$")
    assert expanded_size(["$(A)", "b", "$(A)$$"], {"A": "1234"}.get) == 4 + 1 + 5


def test_what_would_be_too_large_is_never_made() -> None:
    large = {"A": "x" * (LARGEST_EXPANSION // 4)}

    tracemalloc.start()
    try:
        with pytest.raises(OversizedExpansion, match=r"^10485760 .* at most 8388608 are"):
            expand_all(["$(A)"] * 5, large.get)
        with pytest.raises(OversizedExpansion):
            expand("$(A)" * 5, large.get)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 1 << 20
    assert len(expand("$(A)" * 4, large.get)) == LARGEST_EXPANSION
