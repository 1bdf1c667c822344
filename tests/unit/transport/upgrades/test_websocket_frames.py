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


def decoded(data: bytes, *, masked: bool = False) -> list[WebSocketMessage]:
    return WebSocketDecoder(expects_mask=masked).feed(data)


def piece(payload: bytes, *, begins: bool = False, ends: bool = False) -> WebSocketMessage:
    return WebSocketMessage(Opcode.BINARY, payload, begins, ends)


def test_the_key_of_the_rfc_is_accepted_as_it_says() -> None:
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_the_frames_of_the_rfc_are_written_as_it_says() -> None:
    assert encode_frame(HELLO) == bytes.fromhex("810548656c6c6f")
    assert encode_frame(HELLO, MASK) == MASKED_HELLO


def test_the_frames_of_the_rfc_are_read_as_it_says() -> None:
    assert decoded(bytes.fromhex("810548656c6c6f")) == [HELLO]
    assert decoded(MASKED_HELLO, masked=True) == [HELLO]
    assert decoded(bytes.fromhex("010348656c 80026c6f")) == [
        WebSocketMessage(Opcode.TEXT, b"Hel", begins=True, ends=False),
        WebSocketMessage(Opcode.TEXT, b"lo", begins=False, ends=True),
    ]


@pytest.mark.parametrize("length", [0, 125, 126, 65535, 65536])
def test_every_form_of_length_comes_back_a_byte_at_a_time(length: int) -> None:
    decoder = WebSocketDecoder(expects_mask=True)
    message = WebSocketMessage(Opcode.BINARY, b"abc" * (length // 3) + b"d" * (length % 3))
    frame = encode_frame(message, MASK)

    found = [each for byte in frame for each in decoder.feed(bytes((byte,)))]

    assert b"".join(each.payload for each in found) == message.payload
    assert [each.begins for each in found] == [True, *[False] * (len(found) - 1)]
    assert [each.ends for each in found] == [*[False] * (len(found) - 1), True]


def test_a_ping_comes_between_the_parts_of_a_message() -> None:
    found = decoded(bytes.fromhex("020161 890170 800162"))

    ping = WebSocketMessage(Opcode.PING, b"p")
    assert found == [piece(b"a", begins=True), ping, piece(b"b", ends=True)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("c10161", "reserved bits"),
        ("830161", "opcode 3"),
        ("81850000000048656c6c6f", "wrong side"),
        ("897e0080", "control frame"),
        ("090170", "control frame"),
        ("82ff", "wrong side"),
        ("827f8000000000000000", "no possible length"),
        ("800161", "out of order"),
        ("020161020162", "out of order"),
    ],
)
def test_what_breaks_the_rules_is_refused(data: str, words: str) -> None:
    with pytest.raises(WebSocketBroken, match=words):
        decoded(bytes.fromhex(data))


def test_a_message_of_any_length_is_handed_out_as_it_arrives_and_nothing_is_kept() -> None:
    decoder = WebSocketDecoder(expects_mask=False)
    head = bytes.fromhex("827f") + (2**40).to_bytes(8)

    assert decoder.feed(head) == []
    assert decoder.feed(b"a" * 1000) == [piece(b"a" * 1000, begins=True)]
    assert decoder.feed(b"b" * 1000) == [piece(b"b" * 1000)]


def test_a_control_frame_is_handed_out_whole() -> None:
    decoder = WebSocketDecoder(expects_mask=False)

    assert decoder.feed(bytes.fromhex("890270")) == []
    assert decoder.feed(b"q") == [WebSocketMessage(Opcode.PING, b"pq")]
