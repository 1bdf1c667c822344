"""Whatever a server sends, a request ends: with what it sent, or with a TransportError.

Over HTTP/2 the frames of an honest server are mutated: bytes flipped, cut out, doubled.  Over
HTTP/1.1 an answer is.  Nothing else comes out, nothing waits for ever, and no exchange is left on
a connection that is gone.  ``REFLET_SEED`` and ``REFLET_FUZZ`` as in test_parsers.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, note, seed, settings
from hypothesis import strategies as st

from reflet.errors import RefletError, TransportError
from reflet.testing import virtual_time
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.interface import Request, Stream
from tests.properties.test_http2_frames import Answer, Noise, Piece, Server, Wire
from tests.unit.transport.dialling import http1_to
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

SEED: Final = int(os.environ.get("REFLET_SEED", "0"))
TIMES: Final = int(os.environ.get("REFLET_FUZZ", "1"))
PATIENCE: Final = 5.0  # seconds

ANSWERS: Final = (
    Answer(counted=False, ending="data", informed=False),
    Answer(counted=True, ending="data", informed=True),
    Answer(counted=False, ending="trailers", informed=False),
)
STEPS: Final[Sequence[Piece | Noise]] = (
    Piece(0, b"event\n" * 5, None),
    Noise("ping"),
    Piece(1, b"counted", None),
    Piece(2, b"padded", 5),
    Noise("settings"),
    Piece(0, b"more\n", None),
    Noise("window"),
)
HTTP1_ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"6\r\nevent\n\r\n5\r\nmore\n\r\n0\r\n\r\n"
)

Mutation = tuple[float, int, bytes]
"""Where, as a part of the whole; how many bytes are taken out; and what is put in."""

mutations = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from([0, 1, 1, 3, 9, 40]),
        st.binary(max_size=4)
        | st.sampled_from(
            [
                b"\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
                b"\x00\x00\x08\x07\x00\x00\x00\x00\x00" + bytes(8),  # farewell
                b"\x00\x00\x04\x03\x00\x00\x00\x00\x01" + bytes(4),  # reset
                b"\x00\x00\x04\x08\x00\x00\x00\x00\x01\x7f\xff\xff\xff",  # a window too large
                b"\x00\x00\x00\x04\x01\x00\x00\x00\x00",  # an acknowledgement nobody waits for
                b"\x00\x00\x05\x00\x08\x00\x00\x00\x01\x09abcd",  # more padding than there is
            ]
        ),
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, steps: Sequence[Mutation]) -> bytes:
    for part, taken, put in steps:
        begin = int(part * len(data))
        data = data[:begin] + put + data[begin + taken :]
    return data


async def ends(reading: Awaitable[Any]) -> None:
    """Wait for its end; anything but our own error, in one line, fails."""
    words = "read"
    try:
        async with asyncio.timeout(PATIENCE):
            await reading
    except TransportError as error:
        words = str(error)
    assert len(words.splitlines()) == 1


async def read_all(stream: Stream) -> None:
    while await stream.read():
        pass


async def http2_scene(steps: Sequence[Mutation]) -> None:
    connection, wire, server = Http2Connection("https://server", "server"), Wire(), Server()
    connection.connection_made(wire)
    server.state.initiate_connection()
    exchanges = [await connection.open(Request(path="/")) for _ in ANSWERS]
    server.state.receive_data(bytes(wire.written))

    connection.data_received(mutated(server.tell(ANSWERS, STEPS), steps))
    connection.eof_received()
    connection.connection_lost(None)

    for exchange in exchanges:
        await ends(exchange.head())
        await ends(exchange.read_all())
        exchange.close()
    with pytest.raises(RefletError):
        await connection.open(Request(path="/"))
    await asyncio.sleep(0)


@pytest.mark.time_limit(60.0 * TIMES)
@seed(SEED)
@settings(max_examples=150 * TIMES, deadline=None, print_blob=True, database=None)
@example([(0.0, 0, b"HTTP/1.1 400 Bad Request\r\n\r\n")])
@example([(0.0, 10_000, b"")])
@given(mutations)
def test_mutated_frames_end_every_exchange_with_what_came_or_a_transport_error(
    steps: list[Mutation],
) -> None:
    note(f"REFLET_SEED={SEED}")

    virtual_time.run(http2_scene(steps))


async def http1_scene(bodies: Sequence[bytes]) -> None:
    now = b""

    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(now)
        peer.close()

    async with Http1Server(script) as server:
        for now in bodies:  # noqa: B007 - the script sends it
            async with http1_to(server) as transport:
                await ends(transport.send(Request(path="/", timeout=PATIENCE)))
            async with http1_to(server) as transport:
                await ends(streamed(transport))


async def streamed(transport: Any) -> None:
    async with transport.stream(Request(path="/", timeout=PATIENCE), silence=PATIENCE) as stream:
        await read_all(stream)


@pytest.mark.time_limit(60.0 * TIMES)
@seed(SEED)
@settings(
    max_examples=15 * TIMES,
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(mutations.map(lambda steps: mutated(HTTP1_ANSWER, steps)), min_size=4, max_size=8))
def test_mutated_answers_end_every_request_with_what_came_or_a_transport_error(
    bodies: list[bytes],
) -> None:
    note(f"REFLET_SEED={SEED}")

    asyncio.run(http1_scene(bodies))
