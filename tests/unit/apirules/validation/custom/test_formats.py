from __future__ import annotations

import pytest

from reflet.apirules.validation.custom.formats import has_format


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("date", "2024-02-29"),
        ("date-time", "2024-02-29T00:00:00Z"),
        ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("byte", "YQ=="),
        ("ipv4", "1.2.3.4"),
        ("ipv6", "2001:db8::1"),
        ("cidr", "10.0.0.1/8"),
        ("email", "a@b"),
        ("unheard-of", "anything"),
    ],
)
def test_a_text_has_a_format(form: str, text: str) -> None:
    assert has_format(form, text)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("date", "2024-02-30"),
        ("date", "2024-02-29T"),
        ("datetime", "2024-02-29"),
        ("uuid", "x"),
        ("byte", "YQ="),
        ("ipv4", "1.2.3.400"),
        ("ipv6", "1.2.3.4"),
        ("ipv6", "fe80::1%eth0"),
        ("cidr", "10.0.0.1"),
        ("cidr", "10.0.0.0/255.0.0.0"),
        ("cidr", "10.0.0.0/33"),
    ],
)
def test_a_text_has_not(form: str, text: str) -> None:
    assert not has_format(form, text)
