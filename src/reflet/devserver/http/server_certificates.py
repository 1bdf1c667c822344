"""The certificate that the server serves with, and the authority that its clients trust.

Owns: keeping both in a folder, so that a kubeconfig outlives a restart, and the TLS context.
Making them belongs to authority.py, which needs an extra of the package.  Must not know sockets
or kubeconfigs.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.devserver.http.private_files import write_private
from reflet.errors import ConfigurationError

AUTHORITY_FILE: Final = "ca.crt"
CERTIFICATE_FILE: Final = "server.crt"
KEY_FILE: Final = "server.key"


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """What a server needs to serve TLS, and its clients to trust it; all in PEM form."""

    authority: bytes
    certificate: bytes
    key: bytes

    def context(self) -> ssl.SSLContext:
        """Make the context of a server; only HTTP/1.1 is spoken."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # The ssl module reads keys from files only.
        with tempfile.TemporaryDirectory(prefix="reflet-serve-") as folder:
            chain = Path(folder, "chain.pem")
            write_private(chain, self.certificate + self.key)
            context.load_cert_chain(chain)
        return context


def serving_certificate(hosts: Sequence[str], folder: Path | None = None) -> ServingCertificate:
    """Make a certificate for these host names and addresses, or take the one in a folder.

    The one in the folder is taken if it is for all of them; else a new one replaces it.
    Raises ConfigurationError when ``cryptography`` is not installed.
    """
    try:
        from reflet.devserver.http import authority  # noqa: PLC0415 - needs an extra of the package
    except ImportError as error:
        raise ConfigurationError(
            "serving TLS needs the package cryptography: install reflet[devserver], "
            "or serve without TLS (--no-tls)"
        ) from error
    if folder is None:
        return ServingCertificate(*authority.make_certificates(hosts))
    kept = _read(folder)
    if kept is not None and authority.is_for(kept.certificate, hosts):
        return kept
    made = ServingCertificate(*authority.make_certificates(hosts))
    write_private(folder / AUTHORITY_FILE, made.authority)
    write_private(folder / CERTIFICATE_FILE, made.certificate)
    write_private(folder / KEY_FILE, made.key)
    return made


def _read(folder: Path) -> ServingCertificate | None:
    names = (AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE)
    try:
        return ServingCertificate(*((folder / name).read_bytes() for name in names))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"cannot read certificates in {folder}: {error}") from error
