import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.transport.auth.certificates import ClientCertificate, Pem, present, trust
from tests.unit.transport.pem_material import Pair, make_pair

PAIR = make_pair()


def client(certificate: bytes = PAIR.certificate, key: bytes = PAIR.key) -> ClientCertificate:
    return ClientCertificate(Pem("the certificate", data=certificate), Pem("the key", data=key))


def context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def test_neither_repr_shows_the_text() -> None:
    assert "BEGIN" not in repr(client())


def test_a_pem_file_is_read_when_it_is_needed(tmp_path: Path) -> None:
    pem = Pem("the setting", path=tmp_path / "late.pem")
    (tmp_path / "late.pem").write_bytes(b"now")

    assert pem.read() == b"now"


def test_an_unreadable_file_is_named_with_its_setting(tmp_path: Path) -> None:
    path = tmp_path / "absent.pem"

    with pytest.raises(ConfigurationError, match=f"^the setting: {path}: no such file$"):
        Pem("the setting", path=path).read()


def test_every_certificate_of_a_bundle_with_comments_is_trusted() -> None:
    bundle = "# Größe\n".encode() + PAIR.certificate + b"\n# next\n" + make_pair().certificate
    trusting = context()

    trust(trusting, Pem("bundle", data=bundle))

    assert len(trusting.get_ca_certs()) == 2


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"not a certificate",
        PAIR.key,
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n\xff\xfe\n-----END CERTIFICATE-----\n",
    ],
)
def test_an_authority_that_is_no_certificate_is_refused(text: bytes) -> None:
    with pytest.raises(ConfigurationError, match=r"^the authority is not a PEM certificate$"):
        trust(context(), Pem("the authority", data=text))


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (client(certificate=b"junk"), "the certificate is not a PEM certificate"),
        (client(key=b"junk"), "the key is not a PEM private key"),
        (
            client(key=b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
            "the key is not a private key that TLS can use",
        ),
        (client(key=make_pair().key), "the key does not belong to the certificate"),
        (
            client(key=PAIR.encrypted_key),
            "the key is encrypted: store the key without a pass phrase",
        ),
    ],
)
def test_a_useless_pair_is_refused_by_the_name_of_the_bad_half(
    pair: ClientCertificate, words: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^{words}$"):
        present(context(), pair)


@pytest.mark.parametrize(
    "end",
    [
        datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC),
        datetime(2061, 5, 6, 7, 8, 9, tzinfo=UTC),  # from 2050 on the time has another form
    ],
)
def test_a_certificate_is_refused_from_the_second_it_ends(end: datetime) -> None:
    ending = make_pair(ends=end)
    pair = client(ending.certificate, ending.key)

    present(context(), pair, now=lambda: end - timedelta(seconds=1))
    with pytest.raises(ConfigurationError, match=f"^the certificate expired on {end.year}-05-06 "):
        present(context(), pair, now=lambda: end)


def test_the_key_is_never_in_a_folder_when_the_system_has_files_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "not there"))

    present(context(), client())


def test_without_files_in_memory_the_key_is_a_private_file_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    modes: list[int] = []

    class Watching(ssl.SSLContext):
        def load_cert_chain(self, *paths: object, **options: object) -> None:
            modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())

    present(Watching(ssl.PROTOCOL_TLS_CLIENT), client())

    assert modes == [0o600, 0o600]
    assert list(tmp_path.iterdir()) == []


def test_two_equal_pairs_are_equal_and_a_new_one_is_not() -> None:
    other: Pair = make_pair()

    assert client() == client()
    assert client() != client(other.certificate, other.key)
