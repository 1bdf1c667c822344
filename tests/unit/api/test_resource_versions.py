"""Which of two versions is the newer."""

from __future__ import annotations

import math

import pytest

from reflet.api.resource_versions import is_at_least, newest, number_of, rank


@pytest.mark.parametrize(
    ("version", "other", "expected"),
    [
        ("10", "9", True),
        ("9", "10", False),
        ("10", "10", True),
        ("b", "a", False),
        ("a", "a", True),
        ("10", "a", False),
        ("", "1", False),
    ],
)
def test_versions_are_compared_as_numbers(version: str, other: str, expected: bool) -> None:
    assert is_at_least(version, other) is expected


def test_what_is_no_number_has_the_last_rank_and_no_number() -> None:
    assert (rank("12"), rank("x"), number_of("12"), number_of("٣")) == (12, math.inf, 12, None)


def test_the_newest_is_found_among_numbers() -> None:
    assert (newest(["9", "x", "10"]), newest(["x"]), newest([])) == ("10", "", "")
