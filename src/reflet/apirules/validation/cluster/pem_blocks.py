"""Certificates and requests for them, as far as their shape goes: PEM around DER.

No key, signature, name or time is looked at; certificates that were made by a library pass, and
those that were cut, mixed up or are something else do not.

Upstream: encoding/pem/pem.go, Decode; crypto/x509/x509.go, ParseCertificateRequest
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

CERTIFICATE: Final = "CERTIFICATE"
CERTIFICATE_REQUEST: Final = "CERTIFICATE REQUEST"

_BLOCK: Final = re.compile(
    rb"^-----BEGIN (?P<type>[^\n]*)-----[ \t]*\r?\n"
    rb"(?P<headers>(?:[^\n:]*:[^\n]*\n)*)"
    rb"(?P<body>[^-:]*)"
    rb"(?<=\n)-----END (?P=type)-----[ \t]*\r?$",
    re.MULTILINE,
)
_INTEGER, _BITS, _OBJECT_ID, _SEQUENCE, _CONTEXT_0 = 0x02, 0x03, 0x06, 0x30, 0xA0
_ALGORITHM: Final = (_SEQUENCE, (_OBJECT_ID,))
_PUBLIC_KEY: Final = (_SEQUENCE, (_ALGORITHM, _BITS))
# A tag, or a tag and how what is inside begins; None is anything.
_REQUEST: Final = (
    _SEQUENCE,
    ((_SEQUENCE, (_INTEGER, None, _PUBLIC_KEY, _CONTEXT_0)), _ALGORITHM, _BITS),
)
_SIGNED: Final = (
    _SEQUENCE,
    (
        (_SEQUENCE, (_INTEGER, _ALGORITHM, _SEQUENCE, _SEQUENCE, _SEQUENCE, _PUBLIC_KEY)),
        _ALGORITHM,
        _BITS,
    ),
)
Shape = int | tuple[int, tuple["Shape", ...]] | None


class MalformedDer(ValueError):
    """Bytes are not what they should be; the message says why, roughly as Go does."""


@dataclass(frozen=True, slots=True)
class PemBlock:
    """What stands between two lines of dashes."""

    type: str
    has_headers: bool
    content: bytes


def pem_blocks(data: bytes) -> Iterator[PemBlock]:
    """Give the blocks of a text one after another; what is between them is nothing."""
    for found in _BLOCK.finditer(data):
        try:
            content = base64.b64decode(re.sub(rb"\s", b"", found["body"]), validate=True)
        except binascii.Error:
            continue
        yield PemBlock(found["type"].decode(errors="replace"), bool(found["headers"]), content)


def check_request(der: bytes) -> None:
    """Check that bytes are one request for a certificate; MalformedDer when they are not."""
    if _check_shape(der, 0, _REQUEST) != len(der):
        raise MalformedDer("asn1: syntax error: trailing data")


def check_certificates(der: bytes) -> None:
    """Check that bytes are certificates, one after another; MalformedDer when they are not."""
    end = 0
    while end < len(der):
        try:
            end = _check_shape(der, end, _SIGNED)
        except MalformedDer:
            raise MalformedDer("x509: malformed certificate") from None


def _check_shape(der: bytes, start: int, shape: Shape) -> int:
    """Check what begins at a place, and say where it ends."""
    tag, inside, end = _header(der, start)
    if shape is None:
        return end
    wanted, parts = shape if isinstance(shape, tuple) else (shape, ())
    if tag != wanted:
        raise MalformedDer("asn1: structure error: tags don't match")
    if der[inside:end][:1] == bytes([_CONTEXT_0]) and parts[:1] == (_INTEGER,):
        # The version of a certificate may be left out.
        _, _, inside = _header(der, inside)
    for part in parts:
        if inside == end:
            raise MalformedDer("asn1: syntax error: sequence truncated")
        inside = _check_shape(der[:end], inside, part)
    return end


def _header(der: bytes, start: int) -> tuple[int, int, int]:
    """Give the tag of what begins at a place, and where its content begins and ends."""
    if start >= len(der):
        raise MalformedDer("asn1: syntax error: sequence truncated")
    if start + 1 >= len(der):
        raise MalformedDer("asn1: syntax error: truncated tag or length")
    length, inside = der[start + 1], start + 2
    if length & 0x80:
        count = length & 0x7F
        if not 0 < count <= 4:
            raise MalformedDer("asn1: structure error: length too large")
        length, inside = int.from_bytes(der[inside : inside + count]), inside + count
    if inside + length > len(der):
        raise MalformedDer("asn1: syntax error: data truncated")
    return der[start], inside, inside + length
