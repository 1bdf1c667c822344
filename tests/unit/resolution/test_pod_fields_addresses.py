"""Addresses are read leniently and written in one way."""

from __future__ import annotations

import pytest

from reflet.resolution.pod_fields import one_of_each_family, parse_address


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("010.001.0.9", "10.1.0.9"),
        ("FD00:0::06", "fd00::6"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("::ffff:01.2.3.4", "1.2.3.4"),
        ("192.168.1.1.", "None"),
        ("fe80::1%eth0", "None"),
        ("1.2.3.4/8", "None"),
        ("", "None"),
        ("1" * 5000, "None"),
    ],
)
def test_an_address_is_rewritten_or_refused(text: str, written: str) -> None:
    assert str(parse_address(text)) == written


def test_one_address_of_each_family_stays_the_main_family_first() -> None:
    given = ["x", "fd00::1", "1.2.3.4", "fd00::2", "5.6.7.8"]

    assert (one_of_each_family(given), one_of_each_family(given, first=6)) == (
        ("1.2.3.4", "fd00::1"),
        ("fd00::1", "1.2.3.4"),
    )
