from __future__ import annotations

import pytest

from reflet.apirules.validation.cluster.pem_blocks import (
    MalformedDer,
    check_certificates,
    check_request,
    pem_blocks,
)
from tests.certificate_texts import CERTIFICATE_PEM, REQUEST_PEM

(REQUEST,) = (block.content for block in pem_blocks(REQUEST_PEM.encode()))
(CERTIFICATE,) = (block.content for block in pem_blocks(CERTIFICATE_PEM.encode()))


def test_blocks_are_found_among_other_text() -> None:
    text = f"before\n{REQUEST_PEM}between\n{CERTIFICATE_PEM.replace(chr(10), chr(13) + chr(10))}"
    headed = CERTIFICATE_PEM.replace("E-----\n", "E-----\nName: value\n\n", 1)
    found = [
        (block.type, block.has_headers, block.content)
        for block in pem_blocks(f"{text}\n{headed}".encode())
    ]

    assert found == [
        ("CERTIFICATE REQUEST", False, REQUEST),
        ("CERTIFICATE", False, CERTIFICATE),
        ("CERTIFICATE", True, CERTIFICATE),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAA",
        CERTIFICATE_PEM.replace("END CERTIFICATE", "END OTHER"),
        CERTIFICATE_PEM.replace("MII", "M!!"),
        f" {CERTIFICATE_PEM}",
        CERTIFICATE_PEM.replace("-----END", "x-----END"),
    ],
)
def test_what_is_no_block_is_passed_over(text: str) -> None:
    assert list(pem_blocks(text.encode())) == []


def test_an_empty_block_is_a_block() -> None:
    (block,) = pem_blocks(b"-----BEGIN X-----\n-----END X-----")

    assert block.content == b""


def test_requests_and_certificates_have_their_shape() -> None:
    check_request(REQUEST)
    check_certificates(CERTIFICATE * 2)
    check_certificates(b"")


@pytest.mark.parametrize(
    ("der", "wrong"),
    [
        (b"", "sequence truncated"),
        (REQUEST[:1], "truncated tag or length"),
        (REQUEST[:-1], "data truncated"),
        (REQUEST + b"\0", "trailing data"),
        (CERTIFICATE, "tags don't match"),
        (b"\x30\x00", "sequence truncated"),
        (b"\x30\x80", "length too large"),
    ],
)
def test_what_is_no_request_is_told_apart(der: bytes, wrong: str) -> None:
    with pytest.raises(MalformedDer, match=wrong):
        check_request(der)


@pytest.mark.parametrize("der", [REQUEST, CERTIFICATE[:-1], CERTIFICATE + b"\0\0"])
def test_what_is_no_certificate_is_told_apart(der: bytes) -> None:
    with pytest.raises(MalformedDer, match="x509: malformed certificate"):
        check_certificates(der)
