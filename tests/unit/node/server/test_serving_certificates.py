from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.node.options import SecurePort
from reflet.node.server.serving_certificates import ServingCertificates
from reflet.testing.virtual_time import ManualClock
from tests.unit.transport.pem_material import Pair, make_pair

HOST = "edge-1"
FIRST = make_pair("first", host=HOST)
SECOND = make_pair("second", host=HOST)
CLIENTS = make_pair("clients")
CLIENT = make_pair("ann", authority=False, issuer=CLIENTS)
STRANGER = make_pair("eve", authority=False)


class Stage:
    """The files of a port, of which the certificate ``first`` is shown, and its clients."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writes = 0
        self.certificate, self.key = folder / "node.crt", folder / "node.key"
        self.client_ca: Path | None = None
        self.shows(FIRST)

    def shows(self, pair: Pair) -> None:
        self.write(self.certificate, pair.certificate)
        self.write(self.key, pair.key)

    def asks_for_clients_of(self, authority: Pair) -> None:
        self.client_ca = self._folder / "clients.crt"
        self.write(self.client_ca, authority.certificate)

    def write(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        # The clock of a file system may be slower than a test.
        self._writes += 1
        os.utime(path, ns=(self._writes, self._writes))

    def listen(self) -> ssl.SSLContext:
        port = SecurePort(certificate=self.certificate, key=self.key, client_ca=self.client_ca)
        return ServingCertificates(port, clock=ManualClock()).context()

    def client(self, shown: Pair | None = None) -> ssl.SSLContext:
        """A client that trusts both certificates of the port, and shows one of its own."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=(FIRST.certificate + SECOND.certificate).decode())
        if shown is not None:
            path = self._folder / "client.pem"
            path.write_bytes(shown.certificate + shown.key)
            context.load_cert_chain(path)
        return context


def meet(
    client: ssl.SSLContext, server: ssl.SSLContext, *, host: str | None = HOST
) -> tuple[str, str]:
    """Whom the client meets, and whom the server meets; raises what either of them raises."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    waiting = set(ends)
    while waiting:
        for end in tuple(waiting):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.discard(end)
    return common_name(ends[0]), common_name(ends[1])


def common_name(end: ssl.SSLObject) -> str:
    certificate: dict[str, Any] = end.getpeercert() or {}
    pairs = [pair for part in certificate.get("subject", ()) for pair in part]
    return str(dict(pairs).get("commonName", ""))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


# Who meets whom


def test_without_an_authority_nobody_is_asked_for_a_certificate(stage: Stage) -> None:
    assert meet(stage.client(CLIENT), stage.listen()) == ("first", "")


def test_a_client_may_show_a_certificate_and_need_not(stage: Stage) -> None:
    stage.asks_for_clients_of(CLIENTS)
    listening = stage.listen()

    assert meet(stage.client(CLIENT), listening) == ("first", "ann")
    assert meet(stage.client(), listening) == ("first", "")


def test_a_client_with_a_certificate_of_somebody_else_is_turned_away_and_told_of(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.asks_for_clients_of(CLIENTS)

    with pytest.raises(ssl.SSLCertVerificationError):
        meet(stage.client(STRANGER), stage.listen())

    (message,) = caplog.messages
    assert message.startswith("a client's certificate is not accepted: ")


def test_an_authority_that_another_one_vouches_for_is_enough(stage: Stage) -> None:
    between = make_pair("between", issuer=CLIENTS)
    stage.asks_for_clients_of(between)
    client = make_pair("ann", authority=False, issuer=between)

    assert meet(stage.client(client), stage.listen()) == ("first", "ann")


def test_a_client_whose_certificate_is_over_is_turned_away(stage: Stage) -> None:
    stage.asks_for_clients_of(CLIENTS)
    late = make_pair("ann", authority=False, issuer=CLIENTS, ends=datetime(2021, 1, 1, tzinfo=UTC))

    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        meet(stage.client(late), stage.listen())


def test_a_version_of_tls_with_sessions_is_not_spoken(stage: Stage) -> None:
    client = stage.client()
    client.maximum_version = ssl.TLSVersion.TLSv1_2

    with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
        meet(client, stage.listen())


# Files that change


def test_a_new_certificate_is_shown_to_the_next_client(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    listening = stage.listen()
    before = meet(stage.client(), listening)
    stage.shows(SECOND)
    after = [meet(stage.client(), listening) for _ in range(2)]

    assert (before, after) == (("first", ""), [("second", "")] * 2)
    assert caplog.messages == ["the TLS files have changed, and are read again"]


def test_a_client_that_names_no_host_sees_the_new_certificate_too(stage: Stage) -> None:
    listening = stage.listen()
    stage.shows(SECOND)
    client = stage.client()
    client.check_hostname = False

    assert meet(client, listening, host=None) == ("second", "")


def test_files_behind_a_link_that_is_swapped_are_read_again(stage: Stage, tmp_path: Path) -> None:
    for name, pair in (("..1", FIRST), ("..2", SECOND)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tls.crt").write_bytes(pair.certificate)
        (tmp_path / name / "tls.key").write_bytes(pair.key)
    data = tmp_path / "..data"
    data.symlink_to("..1")
    stage.certificate, stage.key = data / "tls.crt", data / "tls.key"
    listening = stage.listen()
    (tmp_path / "..data_tmp").symlink_to("..2")
    (tmp_path / "..data_tmp").rename(data)

    assert meet(stage.client(), listening) == ("second", "")


def test_a_new_authority_counts_and_the_old_one_no_more(stage: Stage) -> None:
    stage.asks_for_clients_of(CLIENTS)
    listening = stage.listen()
    others = make_pair("others")
    stage.asks_for_clients_of(others)
    newcomer = make_pair("bob", authority=False, issuer=others)

    assert meet(stage.client(newcomer), listening) == ("first", "bob")
    with pytest.raises(ssl.SSLCertVerificationError):
        meet(stage.client(CLIENT), listening)


def test_a_session_does_not_outlive_the_authority_of_its_client(stage: Stage) -> None:
    stage.asks_for_clients_of(CLIENTS)
    listening = stage.listen()
    client = stage.client(CLIENT)
    session = session_after_a_meeting(client, listening)

    assert session is None or not session.has_ticket


def session_after_a_meeting(
    client: ssl.SSLContext, server: ssl.SSLContext
) -> ssl.SSLSession | None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=HOST)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for end in (ours, theirs, ours, theirs):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    theirs.write(b"hello")
    assert ours.read() == b"hello"
    return ours.session


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("node.crt", b"nonsense", "is not a PEM certificate"),
        ("node.key", SECOND.key, "does not belong to --tls-cert-file"),
        ("clients.crt", b"", "is not a PEM certificate"),
    ],
)
def test_new_files_of_no_use_are_told_once_and_the_earlier_ones_stay(
    stage: Stage,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    content: bytes,
    words: str,
) -> None:
    stage.asks_for_clients_of(CLIENTS)
    listening = stage.listen()
    stage.write(tmp_path / name, content)
    met = [meet(stage.client(CLIENT), listening) for _ in range(2)]

    assert met == [("first", "ann")] * 2
    (message,) = caplog.messages
    assert message.startswith("the TLS files have changed, and the earlier ones stay: --")
    assert words in message


def test_a_file_that_is_gone_is_told_and_the_earlier_one_stays(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    listening = stage.listen()
    stage.key.unlink()

    assert meet(stage.client(), listening) == ("first", "")
    assert f"--tls-private-key-file {stage.key}: no such file" in caplog.text


def test_a_key_that_comes_after_its_certificate_is_waited_for(stage: Stage) -> None:
    listening = stage.listen()
    stage.write(stage.certificate, SECOND.certificate)
    between = meet(stage.client(), listening)
    stage.write(stage.key, SECOND.key)

    assert (between, meet(stage.client(), listening)) == (("first", ""), ("second", ""))


# Files of no use


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("node.crt", None, "--tls-cert-file {path}: no such file"),
        ("node.crt", b"nonsense", "--tls-cert-file {path} is not a PEM certificate"),
        ("node.key", None, "--tls-private-key-file {path}: no such file"),
        ("node.key", b"nonsense", "--tls-private-key-file {path} is not a PEM private key"),
        (
            "node.key",
            SECOND.key,
            "--tls-private-key-file {path} does not belong to --tls-cert-file {folder}/node.crt",
        ),
        (
            "node.key",
            FIRST.encrypted_key,
            "--tls-private-key-file {path} is encrypted: store the key without a pass phrase",
        ),
        ("clients.crt", None, "--client-ca-file {path}: no such file"),
        ("clients.crt", b"nonsense", "--client-ca-file {path} is not a PEM certificate"),
    ],
)
def test_a_file_of_no_use_is_named(
    stage: Stage, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    stage.asks_for_clients_of(CLIENTS)
    path = tmp_path / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigurationError) as caught:
        stage.listen()

    assert str(caught.value) == words.format(path=path, folder=tmp_path)


def test_a_certificate_that_is_over_is_shown_with_a_warning(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.shows(make_pair("late", host=HOST, ends=datetime(2021, 1, 1, tzinfo=UTC)))
    stage.listen()

    assert caplog.messages == [
        f"--tls-cert-file {stage.certificate} expired on 2021-01-01 00:00:00+00:00"
    ]
