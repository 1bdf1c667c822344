import ssl
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.auth.credentials import BasicAuth
from reflet.transport.config.settings import (
    ConnectionSettings,
    Impersonation,
    checked_proxy,
    checked_server,
    parse_request_timeout,
    ssl_context,
)
from tests.unit.transport.pem_material import make_pair, server_context, shake_hands

SERVER = make_pair("api", host="api.example", authority=False)
CLIENT = make_pair("alice")


def settings(**changes: object) -> ConnectionSettings:
    given: dict[str, object] = {
        "server": "https://api.example",
        "certificate_authority": Pem("the authority", data=SERVER.certificate),
        **changes,
    }
    return ConnectionSettings(**given)  # type: ignore[arg-type]  # the tests' own keywords


def test_the_repr_shows_no_secret() -> None:
    shown = repr(
        settings(
            proxy_url="http://proxy-user:proxy-secret@proxy:3128",
            credentials=BasicAuth("alice", "basic-secret"),
            client_certificate=ClientCertificate(
                Pem("certificate", data=CLIENT.certificate), Pem("key", data=CLIENT.key)
            ),
        )
    )

    assert "api.example" in shown
    for secret in ("proxy-secret", "basic-secret", "PRIVATE KEY", "YWxpY2U"):
        assert secret not in shown


def test_a_server_that_the_given_authority_vouches_for_is_accepted(tmp_path: Path) -> None:
    shake_hands(ssl_context(settings()), server_context(SERVER, tmp_path), "api.example")


def test_a_certificate_that_somebody_else_signed_can_be_the_authority(tmp_path: Path) -> None:
    server = make_pair("api", host="api.example", authority=False, issuer=make_pair("root"))
    trusting = settings(certificate_authority=Pem("authority", data=server.certificate))

    shake_hands(ssl_context(trusting), server_context(server, tmp_path), "api.example")


def test_a_server_is_checked_for_its_name(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(ssl_context(settings()), server_context(SERVER, tmp_path), "other.example")


def test_a_name_in_the_subject_alone_does_not_count(tmp_path: Path) -> None:
    nameless = make_pair("api.example")
    trusting = settings(certificate_authority=Pem("authority", data=nameless.certificate))

    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(ssl_context(trusting), server_context(nameless, tmp_path), "api.example")


def test_without_an_authority_the_system_decides(tmp_path: Path) -> None:
    context = ssl_context(settings(certificate_authority=None))

    assert context.verify_mode is ssl.CERT_REQUIRED
    with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
        shake_hands(context, server_context(SERVER, tmp_path), "api.example")


def test_insecure_accepts_anybody(tmp_path: Path) -> None:
    context = ssl_context(settings(certificate_authority=None, insecure=True))

    shake_hands(context, server_context(SERVER, tmp_path), "other.example")


def test_insecure_with_an_authority_is_a_contradiction() -> None:
    with pytest.raises(ConfigurationError, match=r"^the authority is set together with insecure"):
        ssl_context(settings(insecure=True))


def test_the_server_sees_the_client_certificate_of_the_settings(tmp_path: Path) -> None:
    pair = ClientCertificate(Pem("c", data=CLIENT.certificate), Pem("k", data=CLIENT.key))
    server = server_context(SERVER, tmp_path, asks_for=CLIENT.certificate)

    end = shake_hands(ssl_context(settings(client_certificate=pair)), server, "api.example")

    assert end.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert(
        CLIENT.certificate.decode()
    )


def test_a_certificate_from_the_credentials_wins(tmp_path: Path) -> None:
    old = make_pair("old")
    configured = ClientCertificate(Pem("c", data=old.certificate), Pem("k", data=old.key))
    brought = ClientCertificate(Pem("c", data=CLIENT.certificate), Pem("k", data=CLIENT.key))
    context = ssl_context(settings(client_certificate=configured), client_certificate=brought)
    server = server_context(SERVER, tmp_path, asks_for=CLIENT.certificate)

    end = shake_hands(context, server, "api.example")

    assert end.getpeercert(binary_form=True) == ssl.PEM_cert_to_DER_cert(
        CLIENT.certificate.decode()
    )


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("https://10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("https://[fd00::1]:6443/", "https://[fd00::1]:6443"),
        ("https://host/k8s/clusters/c-1/?a=b#c", "https://host/k8s/clusters/c-1"),
        ("HTTPS://Host", "https://Host"),
        ("localhost:8080", "http://localhost:8080"),
    ],
)
def test_a_server_is_a_url_without_its_last_slash(written: str, means: str) -> None:
    assert checked_server(written, "server") == means


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("https://", "server: not a URL with a host, like https://10.0.0.1:6443"),
        ("https://host:port", "server: not a URL: check host and port"),
        ("https://host:0", "server: not a URL with a host, like https://10.0.0.1:6443"),
        ("https://[::1", "server: not a URL: check host and port"),
        ("https://a b", "server: not a URL with a host, like https://10.0.0.1:6443"),
        ("ftp://host", "server: 'ftp' is not http or https"),
    ],
)
def test_a_server_that_is_no_url_is_refused(written: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        checked_server(written, "server")

    assert str(caught.value) == words


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="password in the address") as caught:
        checked_server("https://me:secret@host", "server")

    assert "secret" not in str(caught.value)


def test_a_proxy_is_http_or_https() -> None:
    assert checked_proxy("http://me:pw@proxy:3128", "proxy-url") == "http://me:pw@proxy:3128"
    with pytest.raises(ConfigurationError, match=r"^proxy-url: 'socks5' is not supported: use an"):
        checked_proxy("socks5://proxy:1080", "proxy-url")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("0", None),
        ("0s", None),
        ("30", 30.0),
        ("10s", 10.0),
        ("1m", 60.0),
        ("1h1m1.5s", 3661.5),
        ("250ms", 0.25),
        (".5s", 0.5),
    ],
)
def test_a_request_timeout_is_read_as_kubectl_reads_it(written: str, seconds: float | None) -> None:
    assert parse_request_timeout(written) == seconds


@pytest.mark.parametrize("written", ["", "soon", "-1s", "-5", "10 s", "10x", "1s2", "1.5", "s"])
def test_a_request_timeout_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^request_timeout .*: not a time: "):
        parse_request_timeout(written)


def test_impersonation_says_each_group_and_value_in_a_header_of_its_own() -> None:
    someone = Impersonation(
        user="bob", uid="7", groups=("dev", "ops"), extra={"acme.io/Scope:%": ("a", "b")}
    )

    assert someone.headers() == (
        ("impersonate-user", "bob"),
        ("impersonate-uid", "7"),
        ("impersonate-group", "dev"),
        ("impersonate-group", "ops"),
        ("impersonate-extra-acme.io%2fscope%3a%25", "a"),
        ("impersonate-extra-acme.io%2fscope%3a%25", "b"),
    )
