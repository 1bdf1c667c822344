"""Which names variables may have, now and in the seeds' time."""

from __future__ import annotations

import pytest

from reflet.resolution.environment.variables import is_valid, was_valid


@pytest.mark.parametrize(
    ("name", "now", "then"),
    [
        ("HOME", True, True),
        ("a.b-c_9", True, True),
        ("1234", True, False),
        ("a b", True, False),
        ("..a", True, False),
        (".", True, False),
        (".a", True, True),
        ("a=b", False, False),
        ("", False, False),
        ("é", False, False),
        ("a\n", False, False),
    ],
)
def test_the_rules(name: str, now: bool, then: bool) -> None:
    assert (is_valid(name), was_valid(name)) == (now, then)
