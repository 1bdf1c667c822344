from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import h2.config
import h2.connection
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_stream import Http2Stream
from reflet.transport.interface import Request


class Tls:
    """What the connection asks of TLS."""

    def selected_alpn_protocol(self) -> str:
        return "h2"


class Wire(asyncio.Transport):
    """Keeps what the client writes."""

    def __init__(self) -> None:
        super().__init__({"ssl_object": Tls()})
        self.written = bytearray()

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        pass


@dataclass(frozen=True)
class Piece:
    """One DATA frame of one of the answers."""

    answer: int
    data: bytes
    padding: int | None


@dataclass(frozen=True)
class Noise:
    """A frame that belongs to no answer."""

    kind: str


@dataclass(frozen=True)
class Answer:
    """How one answer is told: with its length or not, and how it ends."""

    counted: bool
    ending: str
    informed: bool


@dataclass
class Server:
    """The other side, and everything that it says after the requests."""

    state: h2.connection.H2Connection = field(
        default_factory=lambda: h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False)
        )
    )

    def tell(self, answers: Sequence[Answer], steps: Sequence[Piece | Noise]) -> bytes:
        for number, answer in enumerate(answers):
            self._head(number, answer, steps)
        for step in steps:
            match step:
                case Piece(answer=number, data=data, padding=padding):
                    self.state.send_data(stream_id(number), data, pad_length=padding)
                case Noise(kind="ping"):
                    self.state.ping(b"12345678")
                case Noise(kind="settings"):
                    self.state.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: 50})
                case Noise():
                    self.state.increment_flow_control_window(1000)
        for number, answer in enumerate(answers):
            if answer.ending == "trailers":
                self.state.send_headers(stream_id(number), [("x-sum", "1")], end_stream=True)
            else:
                self.state.end_stream(stream_id(number))
        return bytes(self.state.data_to_send())

    def _head(self, number: int, answer: Answer, steps: Sequence[Piece | Noise]) -> None:
        if answer.informed:
            self.state.send_headers(stream_id(number), [(":status", "103")])
        length = len(body_of(number, steps))
        counted = [("content-length", str(length))] if answer.counted else []
        self.state.send_headers(stream_id(number), [(":status", "200"), *counted])


def stream_id(number: int) -> int:
    return 2 * number + 1


def body_of(number: int, steps: Sequence[Piece | Noise]) -> bytes:
    return b"".join(s.data for s in steps if isinstance(s, Piece) and s.answer == number)


def split(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(edges)]


async def bodies(
    answers: Sequence[Answer], steps: Sequence[Piece | Noise], cuts: Sequence[int] | None
) -> list[bytes]:
    """What the client reads when the server's bytes arrive cut like this; None: one by one."""
    connection, wire, server = Http2Connection("https://server", "server"), Wire(), Server()
    connection.connection_made(wire)
    server.state.initiate_connection()
    exchanges: list[Http2Stream] = [await connection.open(Request(path="/")) for _ in answers]
    server.state.receive_data(bytes(wire.written))

    said = server.tell(answers, steps)
    for chunk in split(said, range(len(said)) if cuts is None else cuts):
        connection.data_received(chunk)

    read = [await exchange.read_all() for exchange in exchanges]
    for exchange in exchanges:
        exchange.close()
    assert connection.idle
    connection.abort()
    return read


pieces = st.builds(
    Piece,
    answer=st.integers(0, 2),
    data=st.sampled_from([b"", b"\n", b"\x00\x00\x00\x00\x01", b"event\n", b"x" * 300]),
    padding=st.sampled_from([None, None, 0, 5]),
)
noise = st.builds(Noise, kind=st.sampled_from(["ping", "settings", "window"]))
told = st.lists(
    st.builds(
        Answer,
        counted=st.booleans(),
        ending=st.sampled_from(["data", "trailers"]),
        informed=st.booleans(),
    ),
    min_size=3,
    max_size=3,
)


@given(
    told,
    st.lists(pieces | noise, max_size=12),
    st.none() | st.lists(st.integers(0, 100_000), max_size=20),
)
def test_any_split_of_what_the_server_says_gives_the_same_bodies(
    answers: list[Answer], steps: list[Piece | Noise], cuts: list[int] | None
) -> None:
    read = asyncio.run(bodies(answers, steps, cuts))

    assert read == [body_of(number, steps) for number in range(len(answers))]
