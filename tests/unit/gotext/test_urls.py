from __future__ import annotations

import pytest

from reflet.gotext.urls import MalformedUrl, Url, join_host_port, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", Url()),
        ("*", Url(path="*")),
        ("HTTPS://a.example:443/x?", Url("https", host="a.example:443", path="/x")),
        ("https://a?q=1&r#f%20g", Url("https", host="a", query="q=1&r", fragment="f g")),
        ("https://u%41:p@a", Url("https", user="uA:p", host="a")),
        ("https://@a", Url("https", user="", host="a")),
        ("https://[::1]:443/", Url("https", host="[::1]:443", path="/")),
        ("https://<x>%C3%A9/", Url("https", host="<x>é", path="/")),
        ("mailto:a@b", Url("mailto")),
        ("db://a:1,b:2/", Url("db", host="a:1,b:2", path="/")),
        ("//a/b%20c", Url(host="a", path="/b%20c")),
        ("///a", Url(path="///a")),
        ("a/b:c", Url(path="a/b:c")),
    ],
)
def test_a_url_is_read_as_go_reads_it(text: str, url: Url) -> None:
    assert parse_url(text) == url


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a\tb", r'parse "a\tb": net/url: invalid control character in URL'),
        (":", 'parse ":": missing protocol scheme'),
        ("1:2#f", 'parse "1:2": first path segment in URL cannot contain colon'),
        ("https://a b/", 'parse "https://a b/": invalid character " " in host name'),
        ("https://a%41", 'parse "https://a%41": invalid URL escape "%41"'),
        ("https://a:b", 'parse "https://a:b": invalid port ":b" after host'),
        ("https://a:1:2", 'parse "https://a:1:2": invalid port ":1:2" after host'),
        ("https://a[::1]", 'parse "https://a[::1]": invalid IP-literal'),
        ("https://[::1", "parse \"https://[::1\": missing ']' in host"),
        ("https://[1.2.3.4]", 'parse "https://[1.2.3.4]": invalid IP-literal'),
        (
            "https://[x]",
            'parse "https://[x]": invalid host: ParseAddr("x"): unable to parse IP',
        ),
        ("https://u<:p@a", 'parse "https://u<:p@a": net/url: invalid userinfo'),
        ("https://a/%z", 'parse "https://a/%z": invalid URL escape "%z"'),
        ("https://a/#%", 'parse "https://a/#%": invalid URL escape "%"'),
    ],
)
def test_what_is_no_url_is_refused_in_the_words_of_go(text: str, wrong: str) -> None:
    with pytest.raises(MalformedUrl) as refusal:
        parse_url(text)

    assert str(refusal.value) == wrong


def test_an_address_of_ipv6_has_brackets_before_its_port() -> None:
    assert [join_host_port("a", 80), join_host_port("::1", 80)] == ["a:80", "[::1]:80"]
