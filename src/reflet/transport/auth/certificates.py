"""Certificates and keys as settings give them, and how they get into a TLS context.

PEM in files or in memory, and the words for each way it can be wrong; a ``Pem`` brings the name
of its setting along.  When files are looked at again is ``http.cert_rotation``.

Upstream: client-go/transport/transport.go, TLSConfigFor, loadTLSFiles
"""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reflet.errors import ConfigurationError
from reflet.runtime.clock import SystemClock
from reflet.transport.setting_files import read_setting_file

if TYPE_CHECKING:
    # At run time only where a context is made: ssl costs more to import than the rest together.
    import ssl

SYSTEM_CLOCK: Final = SystemClock()

CERTIFICATE: Final = re.compile(
    rb"-----BEGIN CERTIFICATE-----\s+(.+?)-----END CERTIFICATE-----", re.DOTALL
)
PRIVATE_KEY: Final = re.compile(rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")


@dataclass(frozen=True, slots=True)
class Pem:
    """PEM text, in the file *path* or else in memory as *data*.

    *setting* names it in errors: ``certificate-authority-data of cluster "x" in FILE``.
    """

    setting: str
    path: Path | None = None
    data: bytes = field(default=b"", repr=False)

    def read(self) -> bytes:
        """The text as it is now; ConfigurationError when the file cannot be read."""
        if self.path is None:
            return self.data
        return read_setting_file(self.path, f"{self.setting}: {self.path}")


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """What we show a server that asks who we are.

    - *certificate*: the certificate, or a chain of them
    - *key*: its private key
    """

    certificate: Pem
    key: Pem


def trust(context: ssl.SSLContext, authority: Pem) -> None:
    """Make *context* accept whom a certificate in *authority* vouches for."""
    if not _accepts(context, authority.read()):
        raise ConfigurationError(f"{authority.setting} is not a PEM certificate")


def present(
    context: ssl.SSLContext,
    client: ClientCertificate,
    *,
    now: Callable[[], datetime] = SYSTEM_CLOCK.now,
) -> None:
    """Make *context* show *client* to servers; nothing of it stays on disk."""
    expiry = show(context, client.certificate, client.key)
    if expiry <= now():
        raise ConfigurationError(
            f"{client.certificate.setting} expired on {expiry:%Y-%m-%d %H:%M:%S} UTC: get a new one"
        )


def show(context: ssl.SSLContext, certificate: Pem, key: Pem) -> datetime:
    """Make *context* show a certificate (chain) to the other side; when the certificate ends.

    Raises ConfigurationError when they are of no use, or do not belong together.
    """
    import ssl  # noqa: PLC0415 - lazily, see above

    chain, private = certificate.read(), key.read()
    if not _accepts(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), chain):
        raise ConfigurationError(f"{certificate.setting} is not a PEM certificate")
    if not PRIVATE_KEY.search(private):
        raise ConfigurationError(f"{key.setting} is not a PEM private key")

    def refuse_password() -> str:
        # Without an answer here OpenSSL would ask on the terminal.
        raise ConfigurationError(f"{key.setting} is encrypted: store the key without a pass phrase")

    try:
        with _as_path(chain) as chain_path, _as_path(private) as key_path:
            context.load_cert_chain(chain_path, key_path, password=refuse_password)
    except ssl.SSLError as error:
        if "MISMATCH" in (error.reason or ""):
            words = f"does not belong to {certificate.setting}"
        else:
            words = "is not a private key that TLS can use"
        raise ConfigurationError(f"{key.setting} {words}") from error
    return _not_after(binascii.a2b_base64(CERTIFICATE.findall(chain)[0]))


def _accepts(context: ssl.SSLContext, pem: bytes) -> bool:
    """Load every certificate in *pem* as trusted; False when there is none, or a broken one."""
    import ssl  # noqa: PLC0415 - lazily, see above

    # Bundles carry comments in any encoding between the certificates; only the blocks count.
    blocks = b"\n".join(match.group() for match in CERTIFICATE.finditer(pem))
    try:
        context.load_verify_locations(cadata=blocks.decode("ascii"))
    except (ssl.SSLError, ValueError):
        return False
    return True


@contextmanager
def _as_path(data: bytes) -> Iterator[str]:
    """A path that reads as *data*, for an interface that takes nothing but paths."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("reflet"), "wb") as memory:
            memory.write(data)
            memory.flush()
            yield f"/proc/self/fd/{memory.fileno()}"
        return
    import tempfile  # noqa: PLC0415 - only where the system has no files in memory

    descriptor, path = tempfile.mkstemp(prefix="reflet-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:  # closed before it is read: Windows insists
            file.write(data)
        yield path
    finally:
        os.unlink(path)  # noqa: PTH108 - as few imports as can be


def _not_after(der: bytes) -> datetime:
    """When the certificate *der*, which the TLS library accepted, ends.

    The standard library has no public reader for it, and it sits at a fixed place:
    Certificate { TBSCertificate { [0] version?, serialNumber, signature, issuer, validity
    { notBefore, notAfter }, … } }.
    """
    _, start, _ = _element(der, 0)
    _, at, _ = _element(der, start)
    tag, _, end = _element(der, at)
    if tag == 0xA0:  # the version is optional, everything before the validity is not
        _, _, end = _element(der, end)
    for _ in range(2):
        _, _, end = _element(der, end)
    _, not_before, _ = _element(der, end)
    _, _, not_after = _element(der, not_before)
    tag, start, end = _element(der, not_after)
    text = der[start:end].decode("ascii")
    if tag == 0x17:  # UTCTime has two digits for the year, 1950 to 2049
        text = ("20" if text < "5" else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Tag, first byte of the content and first byte after it, of the DER element at *at*."""
    length, start = der[at + 1], at + 2
    if length >= 0x80:
        size = length & 0x7F
        length, start = int.from_bytes(der[start : start + size], "big"), start + size
    return der[at], start, start + length
