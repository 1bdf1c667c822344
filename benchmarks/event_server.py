"""A server that sends watch events as fast as it can, for clients to be measured against.

Owns: TLS, HTTP/2 and HTTP/1.1 as far as one endless answer needs them.  Must not know the
clients; it shares nothing with the package but the shape of an event.

The API server's own encoder is slower than our clients, so against it they mostly wait.  Here
events are encoded before anybody asks, frames are built by hand, and TLS records are made in
memory and sent many at a time from a blocking socket, so that the client is most of what is
measured.

A child of its own (see ``measuring.Child``): the task names the certificate's files, the answer
the port.  ``GET /events?count=N&together=K`` sends N events, each a DATA frame or chunk of its
own, K to a TLS record: one is a server that writes event by event, 16 is a loaded one.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qs, urlsplit

import hpack

from benchmarks.measuring import answer, first_line

HOST: Final = "127.0.0.1"
EVENT_SIZE: Final = 1024
BLOCK: Final = 64  # events encrypted between two sends

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEAD: Final = 9
DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0x0, 0x1, 0x4, 0x6, 0x8
ACK = END_STREAM = 0x1
END_HEADERS: Final = 0x4
PADDED, PRIORITY = 0x8, 0x20
INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS = 0x4, 0x3
STATUS_200: Final = b"\x88"  # HPACK: entry 8 of the static table


def event_line() -> bytes:
    """One event as the API server would send it, of exactly ``EVENT_SIZE`` bytes."""
    config_map = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": "settings-00000",
            "namespace": "busy",
            "uid": "7a1cb9a0-4f0c-4a2f-9d0c-3f1f0c2f7d11",
            "resourceVersion": "123456",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "bench", "shard": "7"},
            "managedFields": [
                {
                    "manager": "bench",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": "2026-01-01T00:00:00Z",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:data": {".": {}, "f:payload": {}, "f:sequence": {}}},
                }
            ],
        },
        "data": {"sequence": "0", "payload": ""},
    }
    event = {"type": "MODIFIED", "object": config_map}
    bare = len(json.dumps(event, separators=(",", ":"))) + 1
    config_map["data"] = {"sequence": "0", "payload": "x" * (EVENT_SIZE - bare)}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


class TlsPeer:
    """One client, spoken to through TLS whose records are ours to bundle."""

    def __init__(self, context: ssl.SSLContext, connected: socket.socket) -> None:
        self._socket = connected
        self._arrived = ssl.MemoryBIO()
        self._leaving = ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._arrived, self._leaving, server_side=True)

    def shake_hands(self) -> None:
        """Finish the handshake."""
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.send()
                self._receive()
            else:
                self.send()
                return

    def read(self) -> bytes:
        """Whatever the client says next; empty when it is gone."""
        while True:
            try:
                return self.tls.read(1 << 16)
            except ssl.SSLWantReadError:
                self._receive()
            except ssl.SSLZeroReturnError:
                return b""

    def has_spoken(self) -> bool:
        """Whether ``read`` would return at once."""
        return bool(self.tls.pending()) or bool(select.select([self._socket], [], [], 0)[0])

    def add(self, record: bytes) -> None:
        """Encrypt one record, to be sent with the next ``send``."""
        self.tls.write(record)

    def send(self) -> None:
        """Send what has been encrypted."""
        if self._leaving.pending:
            self._socket.sendall(self._leaving.read())

    def _receive(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the client is gone")
        self._arrived.write(data)


def wanted(target: str) -> tuple[int, int]:
    """How many events a request asks for, and how many together."""
    query = parse_qs(urlsplit(target).query)
    return int(query["count"][0]), int(query["together"][0])


def records(piece: bytes, count: int, together: int) -> Iterator[list[bytes]]:
    """The answer's records, a block at a time."""
    block = [piece * together] * (BLOCK // together)
    for _ in range(count // BLOCK):
        yield block
    if count % BLOCK:
        yield [piece] * (count % BLOCK)


def serve_http1(peer: TlsPeer, event: bytes) -> None:
    """Answer requests one after the other, each in chunks."""
    chunk = f"{len(event):x}\r\n".encode() + event + b"\r\n"
    pending = b""
    while data := peer.read():
        pending += data
        while b"\r\n\r\n" in pending:
            head, pending = pending.split(b"\r\n\r\n", 1)
            count, together = wanted(head.split(b" ")[1].decode())
            peer.add(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            for block in records(chunk, count, together):
                for record in block:
                    peer.add(record)
                peer.send()
            peer.add(b"0\r\n\r\n")
            peer.send()


class Http2Peer:
    """Answers requests on one HTTP/2 connection, one after the other, within its windows."""

    def __init__(self, peer: TlsPeer, event: bytes) -> None:
        self._peer = peer
        self._event = event
        self._pending = b""
        self._connection_window = 65535
        self._initial_window = 65535
        self._granted: dict[int, int] = {}  # to each stream, beyond the initial window
        self._decoder = hpack.Decoder()
        self._requests: list[tuple[int, str]] = []

    def serve(self) -> None:
        """Introduce ourselves and answer until the client is gone."""
        streams = struct.pack("!HL", MAX_CONCURRENT_STREAMS, 100)
        self._peer.add(frame(SETTINGS, 0, 0, streams))
        self._peer.send()
        while len(self._pending) < len(PREFACE):
            self._pending += self._peer.read()
        self._pending = self._pending[len(PREFACE) :]
        while True:
            self._take_frames()
            while self._requests:
                self._answer(*self._requests.pop(0))
            data = self._peer.read()
            if not data:
                return
            self._pending += data

    def _answer(self, stream: int, target: str) -> None:
        count, together = wanted(target)
        self._peer.add(frame(HEADERS, END_HEADERS, stream, STATUS_200))
        sent = 0
        for block in records(frame(DATA, 0, stream, self._event), count, together):
            cost = BLOCK * len(self._event)
            while self._room(stream, sent) < cost or self._peer.has_spoken():
                self._pending += self._peer.read()
                self._take_frames()
            sent += cost
            self._connection_window -= cost
            for record in block:
                self._peer.add(record)
            self._peer.send()
        self._peer.add(frame(DATA, END_STREAM, stream, b""))
        self._peer.send()

    def _room(self, stream: int, sent: int) -> int:
        own = self._initial_window + self._granted.get(stream, 0) - sent
        return min(own, self._connection_window)

    def _take_frames(self) -> None:
        while len(self._pending) >= FRAME_HEAD:
            end = FRAME_HEAD + int.from_bytes(self._pending[:3], "big")
            if len(self._pending) < end:
                return
            kind, flags = self._pending[3], self._pending[4]
            stream = int.from_bytes(self._pending[5:9], "big") & 0x7FFFFFFF
            payload = self._pending[FRAME_HEAD:end]
            self._pending = self._pending[end:]
            self._take(kind, flags, stream, payload)

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        match kind:
            case _ if kind == HEADERS:
                padding = payload[0] if flags & PADDED else 0
                start = (1 if flags & PADDED else 0) + (5 if flags & PRIORITY else 0)
                block = payload[start : len(payload) - padding]
                headers = dict(self._decoder.decode(block, raw=True))
                self._requests.append((stream, headers[b":path"].decode()))
            case _ if kind == SETTINGS and not flags & ACK:
                for code, value in struct.iter_unpack("!HL", payload):
                    if code == INITIAL_WINDOW_SIZE:
                        self._initial_window = value
                self._peer.add(frame(SETTINGS, ACK, 0, b""))
                self._peer.send()
            case _ if kind == WINDOW_UPDATE:
                size = int.from_bytes(payload, "big")
                if stream:
                    self._granted[stream] = self._granted.get(stream, 0) + size
                else:
                    self._connection_window += size
            case _ if kind == PING and not flags & ACK:
                self._peer.add(frame(PING, ACK, 0, payload))
                self._peer.send()
            case _:
                pass  # resets and priorities change nothing for one answer at a time


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One HTTP/2 frame."""
    head = len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big")
    return head + payload


def serve(context: ssl.SSLContext, connected: socket.socket, event: bytes) -> None:
    """Serve one client until it goes, in whatever way."""
    with connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = TlsPeer(context, connected)
        try:
            peer.shake_hands()
            if peer.tls.selected_alpn_protocol() == "h2":
                Http2Peer(peer, event).serve()
            else:
                serve_http1(peer, event)
        except (ConnectionError, ssl.SSLError):
            return  # a client that has what it wanted just goes


def main() -> None:
    """Listen on a free loopback port until killed."""
    task = first_line()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(task["certificate_file"], task["key_file"])
    context.set_alpn_protocols(["h2", "http/1.1"])
    event = event_line()
    with socket.create_server((HOST, 0)) as listening:
        answer({"port": listening.getsockname()[1]})
        while True:
            connected, _ = listening.accept()
            threading.Thread(target=serve, args=(context, connected, event), daemon=True).start()


if __name__ == "__main__":
    main()
