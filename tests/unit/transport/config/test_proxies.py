from collections.abc import Mapping

import pytest

from reflet.transport.config.proxies import proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize(
    ("server", "environ", "expected"),
    [
        ("https://a.example", {}, ("", "")),
        ("https://a.example", PROXY, ("HTTPS_PROXY", "http://proxy:3128")),
        ("https://a.example", {"https_proxy": "proxy:3128"}, ("https_proxy", "http://proxy:3128")),
        ("https://a.example", {**PROXY, "https_proxy": "b"}, ("HTTPS_PROXY", "http://proxy:3128")),
        ("http://a.example", PROXY, ("", "")),
        ("http://a.example", {"HTTP_PROXY": "http://p"}, ("HTTP_PROXY", "http://p")),
        ("http://a.example", {"HTTP_PROXY": "http://p", "REQUEST_METHOD": "GET"}, ("", "")),
    ],
)  # fmt: skip
def test_the_proxy_is_the_one_for_the_scheme(
    server: str, environ: Mapping[str, str], expected: tuple[str, str]
) -> None:
    assert proxy_for(server, environ) == expected


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
def test_loopback_is_never_proxied(host: str) -> None:
    assert proxy_for(f"https://{host}:6443", PROXY) == ("", "")


@pytest.mark.parametrize(
    ("exceptions", "server"),
    [
        ("*", "https://a.example"),
        ("other, example", "https://a.example"),
        ("a.example", "https://A.example"),
        (".example", "https://a.example"),
        ("*.example", "https://a.example"),
        ("a.example:443", "https://a.example"),
        ("10.0.0.0/8", "https://10.1.2.3"),
        ("10.1.2.3", "https://10.1.2.3:6443"),
        ("10.1.2.3:6443", "https://10.1.2.3:6443"),
        ("fd00::/8", "https://[fd00::1]"),
        ("fd00::1", "https://[fd00::1]"),
        ("[fd00::1]:6443", "https://[fd00::1]:6443"),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_an_excepted_server_is_reached_directly(exceptions: str, server: str, name: str) -> None:
    assert proxy_for(server, {**PROXY, name: exceptions}) == ("", "")


@pytest.mark.parametrize(
    ("exceptions", "server"),
    [
        ("", "https://a.example"),
        (",,", "https://a.example"),
        ("b.example", "https://a.example"),
        ("xample", "https://a.example"),
        (".a.example", "https://a.example"),
        ("*.a.example", "https://a.example"),
        ("a.example:6443", "https://a.example"),
        ("10.0.0.0/8", "https://11.1.2.3"),
        ("10.0.0.0/99", "https://10.1.2.3"),
        ("10.0.0.0/8", "https://a.example"),
        ("10.1.2", "https://10.1.2.3"),
        ("fd00::2", "https://[fd00::1]"),
    ],
)
def test_any_other_server_goes_through_the_proxy(exceptions: str, server: str) -> None:
    found = proxy_for(server, {**PROXY, "NO_PROXY": exceptions})

    assert found == ("HTTPS_PROXY", "http://proxy:3128")
