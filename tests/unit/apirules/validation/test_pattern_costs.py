"""Patterns that take for ever are not tried; those that people write are."""

from __future__ import annotations

import pytest

from reflet.apirules.validation.pattern_costs import MOST_STEPS, steps_of

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (SUBDOMAIN, 253),
        (r"^[A-Za-z0-9_-]+$", 10_000),
        (r"^(\d+h)?(\d+m)?(\d+s)?$", 60),
        (r"^(Always|Never)$", 1_000_000),
        (r"^/([^/]+/)*$", 24),
        (r"(a+)+$", 20),
    ],
)
def test_what_people_write_is_tried(pattern: str, length: int) -> None:
    assert steps_of(pattern, length) <= MOST_STEPS


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (r"(a+)+$", 30),
        (r"^((a+)*)*$", 40),
        (r"(a|a)*b", 40),
        (r"(a|aa)+$", 40),
        (r"(.*a)*x", 40),
        (r"a*a*a*a*a*b", 1000),
        ("(" * 5000 + "a" + ")" * 5000, 5),
    ],
)
def test_what_takes_for_ever_is_not(pattern: str, length: int) -> None:
    assert steps_of(pattern, length) > MOST_STEPS
