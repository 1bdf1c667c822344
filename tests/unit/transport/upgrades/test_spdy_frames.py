"""Frames of SPDY/3.1: bytes that Go's framer wrote, our own, and what breaks the rules."""

from __future__ import annotations

import zlib

import pytest

from reflet.transport.upgrades.spdy_frames import (
    DICTIONARY,
    Data,
    Frame,
    GoAway,
    Ping,
    Reset,
    SpdyBroken,
    SpdyCodec,
    SynReply,
    SynStream,
)

# By github.com/moby/spdystream/spdy 0.5.1; among them one frame each of HEADERS, SETTINGS and
# WINDOW_UPDATE, which are read and left out.
FROM_GO = bytes.fromhex(
    "80030001000000290000000100000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a68000000"
    "00ffff800300010100002f0000000300000000000002a54748d15c04ce05160616060c0c0c9c4590a8cc0425714603"
    "0ccda0722811000000ffff800300020000000e000000016260606000000000ffff800300080000001600000001821a"
    "cd0a721828d33157a61603000000ffff800300010000001700000005000000000000c26e5d71494a661e000000ffff"
    "000000010000000568656c6c6f000000010100000080030003000000080000000300000005800300060000000400000"
    "007800300040000000c0000000100000004000000648003000900000008000000010000006480030007000000080000"
    "000500000000"
)
FRAMES: list[Frame] = [
    SynStream(1, {"streamtype": "error"}),
    SynStream(3, {"port": "8080", "requestid": "0", "streamtype": "data"}, is_last=True),
    SynReply(1),
    SynStream(5, {"streamtype": "stdin"}),
    Data(1, b"hello"),
    Data(1, b"", is_last=True),
    Reset(3),
    Ping(7),
    GoAway(5),
]


def test_what_go_wrote_is_read() -> None:
    assert SpdyCodec().feed(FROM_GO) == FRAMES


def test_what_go_wrote_is_read_a_byte_at_a_time() -> None:
    codec = SpdyCodec()
    letters: list[Frame] = [Data(1, bytes((letter,))) for letter in b"hello"]

    found = [frame for byte in FROM_GO for frame in codec.feed(bytes((byte,)))]

    assert found == FRAMES[:4] + letters + FRAMES[5:]


def test_data_of_any_length_is_handed_out_as_it_arrives_and_nothing_is_kept() -> None:
    codec = SpdyCodec()

    assert codec.feed(bytes.fromhex("0000000101000006")) == []
    assert codec.feed(b"abc") == [Data(1, b"abc")]
    assert codec.feed(b"defz") == [Data(1, b"def", is_last=True)]


def test_what_we_write_is_read() -> None:
    writing, reading = SpdyCodec(), SpdyCodec()

    assert reading.feed(b"".join(map(writing.encode, FRAMES))) == FRAMES


def test_the_dictionary_is_the_protocols() -> None:
    assert len(DICTIONARY) == 1423
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2  # as in the first header of every connection


def test_names_are_sent_in_lower_case() -> None:
    sent = SpdyCodec().encode(SynStream(1, {"streamType": "data"}))

    assert SpdyCodec().feed(sent) == [SynStream(1, {"streamtype": "data"})]


def packed(block: bytes) -> bytes:
    """A SYN_STREAM of number 1 with that block of headers."""
    compressor = zlib.compressobj(zdict=DICTIONARY)
    body = bytes((0, 0, 0, 1)) + bytes(6) + compressor.compress(block)
    body += compressor.flush(zlib.Z_SYNC_FLUSH)
    return bytes.fromhex("80030001") + len(body).to_bytes(4) + body


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes.fromhex("8003000100ffffff"), "too long"),
        (bytes.fromhex("8002000100000000"), "version 2"),
        (bytes.fromhex("8003000500000000"), "type 5"),
        (bytes.fromhex("8003000100000004") + bytes(4), "too short"),
        (bytes.fromhex("800300010000000a") + bytes(10), "stream 0"),
        (bytes.fromhex("0000000000000000"), "stream 0"),
        (bytes.fromhex("800300010000000e00000001") + bytes(6) + b"nope", "cannot be read"),
        (packed(b""), "too short"),
        (packed(bytes.fromhex("00000001000000ff61")), "cut off"),
        (packed(bytes.fromhex("ffffffff")), "too short"),
        (packed(bytes.fromhex("00000001") + bytes(200_000)), "too long"),
    ],
)
def test_what_breaks_the_rules_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(SpdyBroken, match=words):
        SpdyCodec().feed(data)
