from __future__ import annotations

from ipaddress import ip_address

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.addresses import (
    check_network,
    check_strict_address,
    is_inside,
    lenient_address,
    lenient_network,
)
from tests.unit.devserver.object_scene import complaints


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("010.000.0.01", "10.0.0.1"),
        ("2001:DB8::00001", "2001:db8::1"),
        ("::ffff:01.2.3.4", "::ffff:102:304"),
    ],
)
def test_leading_zeros_are_read_over(text: str, read: str) -> None:
    assert lenient_address(text) == ip_address(read)  # as text, Python 3.13 has another form


@pytest.mark.parametrize("text", ["", "10.0.0", "10.0.0.256", "fe80::1%eth0", "a.b", "1::2::3"])
def test_other_texts_are_no_addresses(text: str) -> None:
    assert lenient_address(text) is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("10.0.0.0/8", ""),
        ("2001:DB8::/32", ""),
        ("0.0.0.0/0", ""),
        ("10.0.0.0/33", "must be a valid CIDR value"),
        ("10.0.0.0", "must be a valid CIDR value"),
        ("10.0.0.0/", "must be a valid CIDR value"),
        ("10.0.0.0/-1", "must be a valid CIDR value"),
        ("/8", "must be a valid CIDR value"),
        ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        (f"10.0.0.0/{'0' * 5000}8", "must not have leading 0s in IP or prefix length"),
        ("::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
    ],
)
def test_a_network_is_told_what_is_wrong_with_it(text: str, wrong: str) -> None:
    errors = FieldErrors()

    check_network(text, "cidr", errors)

    found = complaints(errors)
    assert found == [] if not wrong else f'"{text}": {wrong}' in found[0]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("10.0.0.1", ""),
        ("x", "must be a valid IP address"),
        ("10.0.0.01", "must not have leading 0s"),
        ("::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"),
    ],
)
def test_an_address_is_told_what_is_wrong_with_it(text: str, wrong: str) -> None:
    errors = FieldErrors()

    check_strict_address(text, "ip", errors)

    found = complaints(errors)
    assert found == [] if not wrong else f'"{text}": {wrong}' in found[0]


def test_what_was_there_before_is_not_asked_again() -> None:
    errors = FieldErrors()

    check_network("10.0.0.1/8", "cidr", errors, known=["10.0.0.1/8"])
    check_strict_address("01.2.3.4", "ip", errors, known=["01.2.3.4"])

    assert not errors


@pytest.mark.parametrize(
    ("inner", "inside"),
    [
        ("10.1.0.0/16", True),
        ("10.0.0.0/8", False),
        ("10.0.0.0/7", False),
        ("11.0.0.0/16", False),
        ("2001:db8::/48", False),
    ],
)
def test_a_part_of_a_network_is_smaller_than_it(inner: str, inside: bool) -> None:
    part, whole = lenient_network(inner), lenient_network("10.0.0.0/8")
    assert part is not None
    assert whole is not None

    assert is_inside(part, whole) is inside
