"""Frames of WebSocket and SPDY: however they are cut, and whatever a hostile peer sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from reflet.transport.upgrades.spdy_frames import (
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
from reflet.transport.upgrades.websocket_frames import (
    Opcode,
    WebSocketBroken,
    WebSocketDecoder,
    WebSocketMessage,
    encode_frame,
)

CUTS: Final = st.lists(st.integers(1, 40), min_size=1, max_size=10)
STREAMS: Final = st.integers(1, 2**31 - 1)
HEADERS: Final = st.dictionaries(st.sampled_from(["port", "requestid", "streamtype"]), st.text())
FRAMES: Final[st.SearchStrategy[Frame]] = st.one_of(
    st.builds(SynStream, STREAMS, HEADERS, st.booleans()),
    st.builds(SynReply, STREAMS, HEADERS, st.booleans()),
    st.builds(Data, STREAMS, st.binary(max_size=100), st.booleans()),
    st.builds(Reset, STREAMS, st.integers(0, 2**32 - 1)),
    st.builds(Ping, st.integers(0, 2**32 - 1)),
    st.builds(GoAway, st.integers(0, 2**31 - 1), st.integers(0, 2**32 - 1)),
)
MESSAGES: Final = st.one_of(
    st.builds(
        WebSocketMessage, st.sampled_from([Opcode.TEXT, Opcode.BINARY]), st.binary(max_size=300)
    ),
    st.builds(
        WebSocketMessage,
        st.sampled_from([Opcode.PING, Opcode.PONG, Opcode.CLOSE]),
        st.binary(max_size=125),
    ),
)


def cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """The same bytes in pieces, of these sizes again and again."""
    place, turn = 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        yield data[place : place + size]
        place, turn = place + size, turn + 1


def whole(pieces: list[WebSocketMessage]) -> list[WebSocketMessage]:
    """Messages put together again; control frames stay between."""
    found: list[WebSocketMessage] = []
    payload = b""
    for piece in pieces:
        if piece.opcode >= Opcode.CLOSE:
            found.append(piece)
            continue
        payload = payload + piece.payload if not piece.begins else piece.payload
        if piece.ends:
            found.append(WebSocketMessage(piece.opcode, payload))
    return found


@given(st.lists(MESSAGES, max_size=5), st.binary(min_size=4, max_size=4), CUTS)
def test_messages_arrive_however_they_are_cut(
    messages: list[WebSocketMessage], mask: bytes, sizes: list[int]
) -> None:
    decoder = WebSocketDecoder(expects_mask=True)
    data = b"".join(encode_frame(message, mask) for message in messages)

    assert whole([each for part in cut(data, sizes) for each in decoder.feed(part)]) == messages


@given(st.lists(FRAMES, max_size=6), CUTS)
def test_frames_arrive_however_they_are_cut(frames: list[Frame], sizes: list[int]) -> None:
    writing, reading = SpdyCodec(), SpdyCodec()
    data = b"".join(map(writing.encode, frames))

    found = [frame for part in cut(data, sizes) for frame in reading.feed(part)]

    assert joined(found) == joined(frames)


def joined(frames: list[Frame]) -> list[Frame]:
    """Data of one stream that follows on data of the same is the same data."""
    found: list[Frame] = []
    for frame in frames:
        last = found[-1] if found else None
        if isinstance(frame, Data) and isinstance(last, Data) and frame.stream == last.stream:
            found[-1] = Data(frame.stream, last.payload + frame.payload, frame.is_last)
        else:
            found.append(frame)
    return found


@given(st.binary(max_size=200), CUTS, st.booleans())
def test_any_bytes_are_messages_or_refused(data: bytes, sizes: list[int], masked: bool) -> None:
    decoder = WebSocketDecoder(expects_mask=masked)
    with suppress(WebSocketBroken):
        for part in cut(data, sizes):
            for message in decoder.feed(part):
                assert len(message.payload) <= len(data)


@given(st.lists(FRAMES, max_size=3), st.binary(max_size=200), CUTS)
def test_any_bytes_are_frames_or_refused(
    frames: list[Frame], data: bytes, sizes: list[int]
) -> None:
    codec = SpdyCodec()
    start = b"".join(map(SpdyCodec().encode, frames[:1]))
    with suppress(SpdyBroken):
        for part in cut(start + data, sizes):
            codec.feed(part)
