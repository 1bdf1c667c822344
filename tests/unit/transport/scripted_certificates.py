"""Certificates for the scripted servers, made once for a test run and never written to stay.

Owns: one authority, the serving certificates that tests need (good, expired, for another name)
and the TLS contexts made of them.  Must not know HTTP.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OTHER_NAME = "kubernetes.default.svc"
TRUSTED = "scripted authority"


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority: its key and its own certificate."""

    key: ec.EllipticCurvePrivateKey
    name: x509.Name

    def sign(
        self,
        key: ec.EllipticCurvePrivateKey,
        *,
        hosts: Sequence[str],
        until: timedelta = timedelta(days=1),
    ) -> x509.Certificate:
        """Vouch for *key* at *hosts*; for itself, as an authority, when there are none."""
        now = datetime.now(UTC)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(_name(hosts[0]) if hosts else self.name)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30))
            .not_valid_after(now + until)
            .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
            .add_extension(identifier, critical=False)
            .add_extension(issuer, critical=False)
            .add_extension(_key_usage(authority=not hosts), critical=True)
        )
        if hosts:
            names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())


@cache
def authority(name: str) -> Authority:
    """The authority of that name."""
    return Authority(_new_key(), _name(name))


@cache
def authority_pem(name: str) -> str:
    """The authority's own certificate."""
    signer = authority(name)
    certificate = signer.sign(signer.key, hosts=(), until=timedelta(days=2))
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


@cache
def server_context(
    *protocols: str,
    hosts: tuple[str, ...] = LOOPBACK,
    expired: bool = False,
    demanding: bool = False,
) -> ssl.SSLContext:
    """What a server at *hosts* serves with; *protocols* are offered by ALPN.

    A *demanding* one wants to see a client certificate.
    """
    key = _new_key()
    until = timedelta(days=-1) if expired else timedelta(days=1)
    certificate = authority(TRUSTED).sign(key, hosts=hosts, until=until)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        both = Path(folder) / "both.pem"
        both.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(both)
    if demanding:
        context.load_verify_locations(cadata=authority_pem(TRUSTED))
        context.verify_mode = ssl.CERT_REQUIRED
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


@cache
def client_context(*protocols: str, trusted: str = TRUSTED) -> ssl.SSLContext:
    """What a client that trusts the authority *trusted* connects with."""
    context = ssl.create_default_context(cadata=authority_pem(trusted))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
