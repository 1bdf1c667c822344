from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.network_functions import read_url
from reflet.apirules.cel.values import EvaluationError, equal
from tests.unit.apirules.cel.expression_scene import value_of

URL = "url('https://me@a.b:80/c%20d/é?x=1&y&x=2#z')"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"{URL}.getScheme() + ' ' + {URL}.getHost()", "https a.b:80"),
        (f"{URL}.getHostname() + ' ' + {URL}.getPort()", "a.b 80"),
        (f"{URL}.getEscapedPath()", "/c%20d/%C3%A9"),
        (f"{URL}.getQuery()['x'] + {URL}.getQuery()['y']", ["1", "2", ""]),
        ("url('http://[::1]:8080/').getHostname()", "::1"),
        ("isURL('/only/a/path') && isURL('mailto:x') && !isURL('no') && !isURL('')", True),
        ("isIP('1.2.3.4') && isIP('::1') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4')", True),
        ("!isIP('fe80::1%eth0') && !isIP('01.2.3.4')", True),
        ("ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", True),
        ("ip('1.2.3.4').family() * 10 + ip('::1').family()", 46),
        ("ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified()", True),
        ("ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()", True),
        ("ip('fe80::1').isLinkLocalUnicast() && ip('10.0.0.1').isGlobalUnicast()", True),
        ("ip('255.255.255.255').isGlobalUnicast()", False),
        ("string(ip('2001:DB8::1'))", "2001:db8::1"),
        ("isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08')", True),
        (
            "!isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/255.0.0.0') && !isCIDR('::ffff:1.2.3.4/96')",
            True,
        ),
        (
            "string(cidr('10.1.2.3/8').masked()) + ' ' + string(cidr('10.1.2.3/8'))",
            "10.0.0.0/8 10.1.2.3/8",
        ),
        ("cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", True),
        ("cidr('10.0.0.0/8').prefixLength()", 8),
        ("cidr('10.0.0.0/8').containsIP(ip('11.1.1.1'))", False),
        (
            "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
            True,
        ),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", True),
        ("cidr('10.0.0.0/8').containsCIDR(cidr('0.0.0.0/0'))", False),
        ("cidr('10.0.0.0/8').containsCIDR('::/64')", False),
    ],
)
def test_addresses_are_read_and_compared(text: str, value: Any) -> None:
    assert equal(value_of(text), value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("url('no')", 'URL parse error during conversion from string: parse "no": invalid URI'),
        ("ip('no')", 'IP Address "no" parse error during conversion from string'),
        ("ip('::ffff:1.2.3.4')", "IPv4-mapped IPv6 address"),
        ("ip('fe80::1%eth0')", "with zone value is not allowed"),
        ("cidr('no')", "network address parse error during conversion from string"),
    ],
)
def test_what_is_no_address_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://a b/", 'invalid character " " in host name'),
        ("http://a:b/", 'invalid port ":b" after host'),
        ("http://[::1/", "missing ']' in host"),
        ("/%zz", 'invalid URL escape "%zz"'),
        ("http://a\x7f", "invalid control character in URL"),
        (":x", "missing protocol scheme"),
    ],
)
def test_a_url_that_go_refuses_is_refused_in_its_words(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="parse") as refusal:
        read_url(text)

    assert said in str(refusal.value)
