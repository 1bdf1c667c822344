"""When the context for new connections is another one, and when it stays."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.testing.virtual_time import ManualClock
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.http.cert_rotation import TlsContexts
from tests.unit.transport.pem_material import Pair, make_pair, server_context, shake_hands

AUTHORITY = make_pair("authority")
OTHER_AUTHORITY = make_pair("other authority")
SERVER = make_pair("api", host="api.example", authority=False, issuer=AUTHORITY)
ALICE, BOB = make_pair("alice", issuer=AUTHORITY), make_pair("bob", issuer=AUTHORITY)


class Scene:
    """Certificates in files, and the contexts that are made of them as time passes."""

    def __init__(self, folder: Path, **changes: object) -> None:
        self.folder = folder
        self.clock = ManualClock(datetime.now(UTC))
        self.ca, self.certificate, self.key = (folder / name for name in ("ca", "crt", "key"))
        self.write(ALICE)
        self.ca.write_bytes(AUTHORITY.certificate)
        given = {
            "server": "https://api.example",
            "certificate_authority": Pem("authority", path=self.ca),
            "client_certificate": ClientCertificate(
                Pem("certificate", path=self.certificate), Pem("key", path=self.key)
            ),
            **changes,
        }
        settings = ConnectionSettings(**given)  # type: ignore[arg-type]  # the tests' own keywords
        self.contexts = TlsContexts(settings, monotonic=self.clock.monotonic, now=self.clock.now)

    def write(self, pair: Pair) -> None:
        self.certificate.write_bytes(pair.certificate)
        self.key.write_bytes(pair.key)

    def after(self, seconds: float = 1.0, *, at_once: bool = False) -> ssl.SSLContext:
        """The current context when so much time has passed."""
        self.clock.advance(seconds)
        return self.contexts.current(None, at_once=at_once)

    def shown_by(self, context: ssl.SSLContext) -> str:
        """Whom a server sees that a connection is made to with *context*."""
        server = server_context(SERVER, self.folder, asks_for=AUTHORITY.certificate)
        found: Any = shake_hands(context, server, "api.example").getpeercert()
        names = dict(pair for part in found["subject"] for pair in part)
        return str(names["commonName"])


def test_without_a_change_there_is_one_context(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    assert len({scene.after(), scene.after(), scene.after(3600.0)}) == 1


def test_another_pair_makes_another_context(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    scene.write(BOB)
    after = scene.after()

    assert (scene.shown_by(before), scene.shown_by(after)) == ("alice", "bob")


def test_another_authority_makes_another_context(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    scene.ca.write_bytes(OTHER_AUTHORITY.certificate)
    after = scene.after()

    assert scene.shown_by(before) == "alice"
    with pytest.raises(ssl.SSLCertVerificationError):
        scene.shown_by(after)


def test_files_are_looked_at_once_a_second(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    scene.write(BOB)

    assert scene.after(0.4) is before
    assert scene.after(0.5) is before
    assert scene.after(0.1) is not before


def test_files_can_be_looked_at_at_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    scene.write(BOB)

    assert scene.after(0.0, at_once=True) is not before


def test_files_that_are_replaced_by_equal_ones_change_nothing(tmp_path: Path) -> None:
    """The kubelet writes the whole volume of a service account anew for each token."""
    scene = Scene(tmp_path)
    before = scene.after()
    for path in (scene.ca, scene.certificate, scene.key):
        fresh = path.with_suffix(".fresh")
        fresh.write_bytes(path.read_bytes())
        fresh.rename(path)

    assert scene.after() is before


def spoil_key(scene: Scene) -> None:
    scene.key.write_bytes(BOB.key)


def spoil_certificate(scene: Scene) -> None:
    scene.certificate.write_bytes(BOB.certificate)


def empty_authority(scene: Scene) -> None:
    scene.ca.write_bytes(AUTHORITY.certificate[:40])


def remove_key(scene: Scene) -> None:
    scene.key.unlink()


def expire(scene: Scene) -> None:
    scene.write(make_pair("bob", ends=datetime.now(UTC) - timedelta(days=1)))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (spoil_key, "key does not belong to certificate"),
        (spoil_certificate, "key does not belong to certificate"),
        (empty_authority, "authority is not a PEM certificate"),
        (remove_key, "no such file"),
        (expire, "certificate expired on"),
    ],
)
def test_while_the_files_are_no_good_the_last_context_stays_with_one_warning(
    spoil: Callable[[Scene], None],
    words: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    spoil(scene)

    with caplog.at_level(logging.WARNING):
        stayed = {scene.after(), scene.after(), scene.after()}
    scene.ca.write_bytes(AUTHORITY.certificate)
    scene.write(BOB)
    after = scene.after()

    assert stayed == {before}
    (record,) = caplog.records
    assert words in record.message
    assert record.message.endswith("; the last good certificates stay in use")
    assert "PRIVATE" not in caplog.text
    assert scene.shown_by(after) == "bob"


def test_a_second_trouble_is_told_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene(tmp_path)
    scene.after()

    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            scene.key.unlink()
            scene.after()
            scene.write(ALICE)
            scene.after()

    assert len(caplog.records) == 2


def test_the_first_files_must_be_good(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    spoil_key(scene)

    with pytest.raises(ConfigurationError, match="key does not belong to certificate"):
        scene.after()
    scene.write(ALICE)

    assert scene.shown_by(scene.after(0.0)) == "alice"


def test_a_certificate_of_the_credentials_makes_its_own_context(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.after()
    brought = ClientCertificate(Pem("certificate", data=BOB.certificate), Pem("key", data=BOB.key))
    after = scene.contexts.current(brought)

    assert (scene.shown_by(before), scene.shown_by(after)) == ("alice", "bob")
    assert scene.contexts.current(brought) is after


def test_the_authority_also_rotates_under_a_certificate_of_the_credentials(tmp_path: Path) -> None:
    brought = ClientCertificate(Pem("certificate", data=BOB.certificate), Pem("key", data=BOB.key))
    scene = Scene(tmp_path, client_certificate=None)
    before = scene.contexts.current(brought)
    scene.ca.write_bytes(AUTHORITY.certificate + OTHER_AUTHORITY.certificate)
    scene.clock.advance(1.0)
    after = scene.contexts.current(brought)

    assert after is not before
    assert scene.shown_by(after) == "bob"


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, AUTHORITY.certificate)
        os.close(writing)
        pipe = Pem("authority", path=Path(f"/dev/fd/{reading}"))
        scene = Scene(tmp_path, certificate_authority=pipe)

        assert scene.after() is scene.after()
    finally:
        os.close(reading)
