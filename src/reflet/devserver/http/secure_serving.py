"""TLS: the certificate to serve with, the private files, and connections that are mostly silent.

Certificates are kept in a folder, so that a kubeconfig outlives a restart.  Private files are
readable by nobody else at any moment, and never half written.

asyncio gives every TLS connection a buffer of 256 KiB to receive into, which for five thousand
watches is more than a gigabyte.  Requests are small, so here the buffer is small.

Upstream: apiserver/pkg/server/secure_serving.go; client-go/util/keyutil/key.go, WriteKey
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import ssl
import tempfile
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError

AUTHORITY_FILE: Final = "ca.crt"
CERTIFICATE_FILE: Final = "server.crt"
KEY_FILE: Final = "server.key"
OWNER_ONLY: Final = 0o600
RECEIVED_AT_ONCE: Final = 16 * 1024
"""Bytes: what one TLS record can hold, and so what can be decrypted at once."""
HANDSHAKE_TIMEOUT: Final = 10  # seconds


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
            "or serve without TLS"
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


def write_private(path: Path, content: bytes) -> None:
    """Write a file with mode 0600, replacing one that is there in a single step."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(content)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


class _SmallBuffer(SSLProtocol):
    max_size = RECEIVED_AT_ONCE
    connections: set[asyncio.Transport]
    connection: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self.connection = transport
            self.connections.add(transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.connections.discard(self.connection)
        super().connection_lost(exc)


def tls_factory(
    make_protocol: Callable[[], asyncio.BaseProtocol],
    context: ssl.SSLContext,
    connections: set[asyncio.Transport],
) -> Callable[[], asyncio.BaseProtocol]:
    """Make a protocol factory that speaks TLS around another one, for a server's socket.

    *connections* has every connection while it is open.
    """
    loop = asyncio.get_running_loop()

    def make() -> asyncio.BaseProtocol:
        protocol = _SmallBuffer(
            loop,
            make_protocol(),
            context,
            None,  # type: ignore[arg-type]  # nobody waits for the handshake
            server_side=True,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT,
        )
        protocol.connections = connections
        return protocol

    return make
