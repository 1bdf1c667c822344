"""Certificates and keys as PEM bytes, and a TLS handshake in memory, for tests of settings.

Owns: the making of them.  Must not know the code under test.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes
    encrypted_key: bytes


def make_pair(
    name: str = "someone",
    *,
    host: str = "",
    ends: datetime | None = None,
    authority: bool = True,
    issuer: Pair | None = None,
    groups: Sequence[str] = (),
) -> Pair:
    """A certificate signed by *issuer*, else by itself; *ends* in UTC, else tomorrow."""
    key = ec.generate_private_key(ec.SECP256R1())
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(
            subject
            if issuer is None
            else x509.load_pem_x509_certificate(issuer.certificate).subject
        )
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(LONG_AGO)
        .not_valid_after(ends or datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if host:
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        builder = builder.add_extension(names, critical=False)
    signing_key = key
    if issuer is not None:
        loaded = serialization.load_pem_private_key(issuer.key, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        signing_key = loaded
    certificate = builder.sign(signing_key, hashes.SHA256())

    def key_pem(encryption: serialization.KeySerializationEncryption) -> bytes:
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        )

    return Pair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key_pem(serialization.NoEncryption()),
        key_pem(serialization.BestAvailableEncryption(b"pass phrase")),
    )


def server_context(pair: Pair, directory: Path, *, asks_for: bytes = b"") -> ssl.SSLContext:
    """A server that shows *pair*, and wants a client certificate that *asks_for* vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (directory / "server.crt").write_bytes(pair.certificate)
    (directory / "server.key").write_bytes(pair.key)
    context.load_cert_chain(directory / "server.crt", directory / "server.key")
    if asks_for:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=asks_for.decode())
    return context


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, host: str) -> ssl.SSLObject:
    """Run a handshake without a socket; the server's end.  Raises what either end raises."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=host)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = {ours, theirs}
    while waiting:
        for end in tuple(waiting):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.discard(end)
    return theirs
