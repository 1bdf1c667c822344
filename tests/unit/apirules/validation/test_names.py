from __future__ import annotations

from collections.abc import Callable

import pytest

from reflet.apirules.validation import names

GOOD: list[tuple[Callable[[str], list[str]], str]] = [
    (names.dns_label, "a-1"),
    (names.dns_subdomain, "a-1.b"),
    (names.wildcard_subdomain, "*.a-1.b"),
    (names.dns_1035_label, "a1"),
    (names.path_segment, "a:b c"),
    (names.qualified_name, "example.com/Name_1.x"),
    (names.label_value, ""),
    (names.label_value, "A_b.c-d"),
    (names.config_key, ".hidden"),
    (names.config_key, "...".replace("...", "A-b_c.d")),
    (names.environment_name, "any thing: but equals"),
    (names.port_name, "http-2"),
    (names.http_header, "X-Y"),
    (names.percent, "25%"),
]


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_a_good_text_has_nothing_wrong(rule: Callable[[str], list[str]], text: str) -> None:
    assert rule(text) == []


BAD: list[tuple[Callable[[str], list[str]], str, str]] = [
    (names.dns_label, "a.b", "must not contain dots"),
    (names.dns_label, "A", "a lowercase RFC 1123 label must consist"),
    (names.dns_label, "a" * 64, "must be no more than 63 characters"),
    (names.dns_subdomain, "-a", "a lowercase RFC 1123 subdomain must consist"),
    (names.dns_subdomain, "a" * 254, "must be no more than 253 characters"),
    (names.wildcard_subdomain, "a.*.b", "a wildcard DNS-1123 subdomain must start with '*.'"),
    (names.wildcard_subdomain, f"*.{'a' * 252}", "must be no more than 253 characters"),
    (names.dns_1035_label, "1a", "a DNS-1035 label must consist"),
    (names.path_segment, "..", "may not be '..'"),
    (names.path_segment, "a%b", "may not contain '%'"),
    (names.qualified_name, "/a", "prefix part must be non-empty"),
    (names.qualified_name, "a/b/c", "a valid label key must consist"),
    (names.qualified_name, "a" * 64, "name part must be no more than 63 bytes"),
    (names.label_value, "a b", "a valid label must be an empty string or consist"),
    (names.config_key, "..", "must not be '..'"),
    (names.config_key, "..a", "must not start with '..'"),
    (names.config_key, "a/b", "a valid config key must consist"),
    (names.environment_name, "", "environment variable name must be non-empty"),
    (names.environment_name, "é", "must consist only of printable ASCII characters"),
    (names.port_name, "80", "must contain at least one letter (a-z)"),
    (names.port_name, "-a", "must not begin or end with a hyphen"),
    (names.http_header, "a b", "a valid HTTP header must consist"),
    (names.percent, "25", "a valid percent string must be"),
]


@pytest.mark.parametrize(("rule", "text", "wrong"), BAD)
def test_a_bad_text_is_told_what_is_wrong(
    rule: Callable[[str], list[str]], text: str, wrong: str
) -> None:
    assert any(wrong in each for each in rule(text))


def test_a_pattern_is_named_with_examples() -> None:
    assert names.mismatch("rule", "p", "a", "b") == (
        "rule (e.g. 'a',  or 'b', regex used for validation is 'p')"
    )
    assert names.mismatch("rule", "p") == "rule (regex used for validation is 'p')"


def test_a_newline_at_the_end_does_not_slip_through() -> None:
    assert names.dns_subdomain("a\n") != []
    assert names.config_key("a\n") != []


@pytest.mark.parametrize(("port", "count"), [(0, 1), (1, 0), (65535, 0), (65536, 1)])
def test_ports_have_their_range(port: int, count: int) -> None:
    assert len(names.port_number(port)) == count
