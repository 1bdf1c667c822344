"""Certificate authorities and certificates for a server that lives as long as one test run.

Owns: keys, certificates and the files they are written to.  Must not know what the
certificates are used for, nor anything about Kubernetes beyond its rule that a client
certificate's common name is the user and its organisations are the groups.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Certificates begin a little in the past, so that a clock that is stepped back during a test
# run does not make them invalid.
CLOCK_SLACK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A certificate and its private key, both PEM; the key's file is for its owner only."""

    certificate_file: Path
    key_file: Path


class Authority:
    """Signs certificates that its own certificate vouches for."""

    def __init__(self, name: str) -> None:
        self._key = new_key()
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._certificate = self._sign(
            self._name, self._key.public_key(), timedelta(days=2), authority=True
        )

    @property
    def pem(self) -> bytes:
        """The authority's own certificate, PEM."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue_server(self, files: CertificateFiles, *, hosts: Sequence[str]) -> None:
        """Write a serving certificate for these host names and IP addresses."""
        key = new_key()
        certificate = self._sign(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])]),
            key.public_key(),
            timedelta(days=2),
            usage=ExtendedKeyUsageOID.SERVER_AUTH,
            hosts=hosts,
        )
        write_certificate(files, certificate, key)

    def issue_client(
        self,
        files: CertificateFiles,
        *,
        user: str,
        groups: Sequence[str] = (),
        valid_for: timedelta = timedelta(days=1),
    ) -> None:
        """Write a client certificate; a negative ``valid_for`` makes one that has expired."""
        key = new_key()
        subject = x509.Name(
            [
                *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
                x509.NameAttribute(NameOID.COMMON_NAME, user),
            ]
        )
        certificate = self._sign(
            subject, key.public_key(), valid_for, usage=ExtendedKeyUsageOID.CLIENT_AUTH
        )
        write_certificate(files, certificate, key)

    def _sign(
        self,
        subject: x509.Name,
        public_key: ec.EllipticCurvePublicKey,
        valid_for: timedelta,
        *,
        authority: bool = False,
        usage: x509.ObjectIdentifier | None = None,
        hosts: Sequence[str] = (),
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        end = now + valid_for
        # Key identifiers and key usage are what OpenSSL's strict verification, the default of
        # Python 3.13, asks for.
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, end) - CLOCK_SLACK)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(key_usage(authority=authority), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )
        if usage is not None:
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def new_key() -> ec.EllipticCurvePrivateKey:
    """Make a private key; elliptic curves because an RSA key takes a noticeable moment."""
    return ec.generate_private_key(ec.SECP256R1())


def write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Write a private key as PEM that only its owner may read."""
    write_private(
        path,
        key.private_bytes(
            serialization.Encoding.PEM,
            # The API server does not read elliptic keys in PKCS #8 for service accounts.
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ),
    )


def write_certificate(
    files: CertificateFiles, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    """Write both halves to their files."""
    files.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    write_key(files.key_file, key)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that nobody but its owner could read, not even while it was written."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(content)


def key_usage(*, authority: bool) -> x509.KeyUsage:
    """Say what a key is for: an authority signs certificates, everybody else signs messages."""
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def general_name(host: str) -> x509.GeneralName:
    """Make the kind of subject alternative name that suits an address or a host name."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
