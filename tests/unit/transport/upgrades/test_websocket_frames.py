"""Frames of WebSocket: the examples of RFC 6455, and what breaks the rules."""

from __future__ import annotations

import pytest

from reflet.transport.upgrades.websocket_frames import (
    Opcode,
    WebSocketBroken,
    WebSocketDecoder,
    WebSocketMessage,
    accept_key,
    encode_frame,
)

MASK = bytes.fromhex("37fa213d")
HELLO = WebSocketMessage(Opcode.TEXT, b"Hello")
MASKED_HELLO = bytes.fromhex("818537fa213d7f9f4d5158")


def decoded(data: bytes, *, longest: int = 100, masked: bool = False) -> list[WebSocketMessage]:
    return WebSocketDecoder(expects_mask=masked, longest=longest).feed(data)


def test_the_key_of_the_rfc_is_accepted_as_it_says() -> None:
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_the_frames_of_the_rfc_are_written_as_it_says() -> None:
    assert encode_frame(HELLO) == bytes.fromhex("810548656c6c6f")
    assert encode_frame(HELLO, MASK) == MASKED_HELLO


def test_the_frames_of_the_rfc_are_read_as_it_says() -> None:
    assert decoded(bytes.fromhex("810548656c6c6f")) == [HELLO]
    assert decoded(MASKED_HELLO, masked=True) == [HELLO]
    assert decoded(bytes.fromhex("010348656c 80026c6f")) == [HELLO]


@pytest.mark.parametrize("length", [0, 125, 126, 65535, 65536])
def test_every_form_of_length_comes_back_a_byte_at_a_time(length: int) -> None:
    decoder = WebSocketDecoder(expects_mask=True)
    message = WebSocketMessage(Opcode.BINARY, bytes(length))
    frame = encode_frame(message, MASK)

    found = decoder.feed(frame[:1]) + decoder.feed(frame[1:3]) + decoder.feed(frame[3:])

    assert found == [message]


def test_a_ping_comes_between_the_parts_of_a_message() -> None:
    found = decoded(bytes.fromhex("020161 890170 800162"))

    assert found == [
        WebSocketMessage(Opcode.PING, b"p"),
        WebSocketMessage(Opcode.BINARY, b"ab"),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("c10161", "reserved bits"),
        ("830161", "opcode 3"),
        ("81850000000048656c6c6f", "wrong side"),
        ("897e0080", "control frame"),
        ("090170", "control frame"),
        ("82ff", "wrong side"),
        ("827f4000000000000000", "longer than 100"),
        ("800161", "out of order"),
        ("020161020162", "out of order"),
    ],
)
def test_what_breaks_the_rules_is_refused(data: str, words: str) -> None:
    with pytest.raises(WebSocketBroken, match=words):
        decoded(bytes.fromhex(data))


def test_parts_count_together() -> None:
    with pytest.raises(WebSocketBroken, match="longer than 100"):
        decoded(bytes((2, 60)) + bytes(60) + bytes((0, 60)))


def test_a_message_in_endless_empty_parts_is_refused() -> None:
    with pytest.raises(WebSocketBroken, match="too many parts"):
        decoded(bytes((2, 0)) + bytes((0, 0)) * 100)
