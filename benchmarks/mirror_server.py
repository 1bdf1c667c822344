"""A server of collections that is faster than any client: lists, watches, streaming lists.

Owns: the answers, over plain HTTP/1.1 and over TLS with HTTP/2 or HTTP/1.1.  What is served is
``mirror_objects``; how TLS records and HTTP/2 frames are made is ``event_server``.  Must not
know the clients.

A child of its own (see ``measuring.Child``): the task names the certificate's files, the answer
the two ports.  Everything is encoded when a namespace is first listed or watched, so whoever
measures asks once before.  A watch sends its events as fast as the client takes them, each a
chunk or a frame of its own, about 16 to a TLS record, and then stays open and silent.  In a
namespace that asks for it there is also a silence between the objects and their updates.
"""

from __future__ import annotations

import functools
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlsplit

import hpack

from benchmarks.event_server import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    HOST,
    Http2Peer,
    TlsPeer,
    frame,
)
from benchmarks.measuring import answer, first_line
from benchmarks.mirror_objects import Collection, collection

RECORD: Final = 16 * 1024  # bytes, the most that a TLS record holds
LONGEST_HEAD: Final = 9  # bytes, of an HTTP/2 frame
AT_ONCE: Final = 4  # records between two sends
JSON: Final = "application/json"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf;stream=watch"

KINDS: Final = {"configmaps": "ConfigMap", "pods": "Pod"}


def _resource(plural: str, kind: str, *, namespaced: bool) -> dict[str, Any]:
    return {
        "name": plural,
        "singularName": kind.lower(),
        "kind": kind,
        "namespaced": namespaced,
        "verbs": ["get", "list", "watch", "patch"],
    }


# What cloudcoil, in the newer form, and kopf, in the older, ask before anything else.
DISCOVERY: Final = {
    "/version": {"major": "1", "minor": "36"},
    "/api": {
        "versions": ["v1"],
        "items": [
            {
                "metadata": {"name": ""},
                "versions": [
                    {
                        "version": "v1",
                        "resources": [
                            {
                                "resource": plural,
                                "responseKind": {"kind": kind},
                                "scope": "Namespaced",
                            }
                            for plural, kind in KINDS.items()
                        ],
                    }
                ],
            }
        ],
    },
    "/api/v1": {
        "resources": [
            *(_resource(plural, kind, namespaced=True) for plural, kind in KINDS.items()),
            _resource("namespaces", "Namespace", namespaced=False),
        ]
    },
    "/apis": {
        "items": [],
        "groups": [
            {
                "name": "apiextensions.k8s.io",
                "versions": [{"version": "v1"}],
                "preferredVersion": {"version": "v1"},
            }
        ],
    },
    "/apis/apiextensions.k8s.io/v1": {
        "resources": [
            _resource("customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
        ]
    },
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent for a request, in pieces; *length* is None for what does not end.

    Behind the first pieces, *silence_after* of them, comes a *silence* of so many seconds.
    """

    pieces: Sequence[bytes]
    length: int | None
    content_type: str = JSON
    status: int = 200
    silence_after: int = 0
    silence: float = 0.0

    def records(self) -> Iterator[Sequence[bytes]]:
        """The pieces, as many together as a TLS record holds with the heads around them.

        None of them at all is the silence.
        """
        together = max(1, RECORD // (max(map(len, self.pieces), default=1) + LONGEST_HEAD))
        for begin in range(0, self.silence_after, together):
            yield self.pieces[begin : min(begin + together, self.silence_after)]
        if self.silence:
            yield ()
        for begin in range(self.silence_after, len(self.pieces), together):
            yield self.pieces[begin : begin + together]


served = functools.cache(collection)


def answer_to(target: str) -> Answer:
    """The answer to a GET."""
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    known = DISCOVERY.get(parts.path)
    if known is not None:
        body = json.dumps(known).encode()
        return Answer([body], len(body))
    found = re.fullmatch(r"/api/v1/namespaces/([^/]+)/(configmaps|pods)", parts.path)
    if found is None:
        return Answer([b"{}"], 2, status=404)
    objects = served(KINDS[found[2]], found[1])
    if query.get("watch") not in {"true", "True", "1"}:
        return page(objects, int(query.get("limit", 0)), int(query.get("continue", 0)))
    initial = objects.initial_events if query.get("sendInitialEvents") == "true" else ()
    return Answer(
        [*initial, *objects.updates] if initial else objects.updates,
        None,
        PROTOBUF if found[1].startswith("protobuf-") else JSON,
        silence_after=len(initial),
        silence=objects.silence,
    )


def page(objects: Collection, limit: int, begin: int) -> Answer:
    """One page of a list; all of it without a limit."""
    end = begin + limit if limit else len(objects.items)
    following = str(end) if end < len(objects.items) else ""
    items = objects.items[begin:end]
    pieces = [objects.listing_head(following), *with_commas(items), b"]}"]
    return Answer(pieces, sum(map(len, pieces)))


def with_commas(items: Sequence[bytes]) -> Iterable[bytes]:
    """The items of an array."""
    return chain(items[:1], (b"," + item for item in items[1:]))


class Peer(Protocol):
    """One client, behind TLS or not."""

    def read(self) -> bytes:
        """Whatever the client says next; empty when it is gone."""
        ...

    def add(self, record: bytes) -> None:
        """Add to what the next ``send`` sends."""
        ...

    def send(self) -> None:
        """Send what was added."""
        ...


class PlainPeer:
    """One client without TLS."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._leaving: list[bytes] = []

    def read(self) -> bytes:
        """Whatever the client says next; empty when it is gone."""
        return self._socket.recv(1 << 16)

    def add(self, record: bytes) -> None:
        """Add to what the next ``send`` sends."""
        self._leaving.append(record)

    def send(self) -> None:
        """Send what was added."""
        self._socket.sendall(b"".join(self._leaving))
        self._leaving.clear()


def framed(pieces: Sequence[bytes], head: Callable[[int], bytes], tail: bytes = b"") -> bytes:
    """The pieces, each behind the head that its length has."""
    lengths = set(map(len, pieces))
    if len(lengths) == 1:  # as good as always, and much faster
        only = head(lengths.pop())
        return only + (tail + only).join(pieces) + tail
    return b"".join(head(len(piece)) + piece + tail for piece in pieces)


def serve_http1(peer: Peer) -> None:
    """Answer requests one after the other."""
    pending = b""
    while data := peer.read():
        pending += data
        while b"\r\n\r\n" in pending:
            request, pending = pending.split(b"\r\n\r\n", 1)
            reply = answer_to(request.split(b" ")[1].decode())
            framing = (
                "transfer-encoding: chunked"
                if reply.length is None
                else f"content-length: {reply.length}"
            )
            head_lines = (
                f"HTTP/1.1 {reply.status} .",
                f"content-type: {reply.content_type}",
                framing,
            )
            peer.add("\r\n".join((*head_lines, "", "")).encode())
            for pieces in reply.records():
                if not pieces:
                    peer.send()
                    time.sleep(reply.silence)
                elif reply.length is None:
                    peer.add(framed(pieces, lambda length: b"%x\r\n" % length, b"\r\n"))
                else:
                    peer.add(b"".join(pieces))
                peer.send()


class MirrorHttp2Peer(Http2Peer):
    """The same answers on one HTTP/2 connection."""

    def __init__(self, peer: TlsPeer) -> None:
        super().__init__(peer, b"")
        self._encoder = hpack.Encoder()

    def _answer(self, stream: int, target: str) -> None:
        reply = answer_to(target)
        headers = [(":status", str(reply.status)), ("content-type", reply.content_type)]
        self._peer.add(frame(HEADERS, END_HEADERS, stream, self._encoder.encode(headers)))
        self._peer.send()
        sent = 0
        for number, pieces in enumerate(reply.records(), 1):
            if not pieces:
                self._peer.send()
                time.sleep(reply.silence)
                continue
            cost = sum(map(len, pieces))
            while self._room(stream, sent) < cost or (
                number % AT_ONCE == 0 and self._peer.has_spoken()
            ):
                self._peer.send()
                self._pending += self._peer.read()
                self._take_frames()
            sent += cost
            self._connection_window -= cost
            # A frame for each piece: that is how the API server flushes events.
            self._peer.add(framed(pieces, lambda length: _data_head(length, stream)))
            if number % AT_ONCE == 0:
                self._peer.send()
        self._peer.send()
        if reply.length is not None:
            self._peer.add(frame(DATA, END_STREAM, stream, b""))
            self._peer.send()


def _data_head(length: int, stream: int) -> bytes:
    return length.to_bytes(3, "big") + bytes((DATA, 0)) + stream.to_bytes(4, "big")


def serve_plain(connected: socket.socket) -> None:
    """Serve one client without TLS."""
    serve_http1(PlainPeer(connected))


def serve_tls(context: ssl.SSLContext, connected: socket.socket) -> None:
    """Serve one client behind TLS."""
    peer = TlsPeer(context, connected)
    peer.shake_hands()
    if peer.tls.selected_alpn_protocol() == "h2":
        MirrorHttp2Peer(peer).serve()
    else:
        serve_http1(peer)


def listen(listening: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """Serve every client in a thread of its own, until the program ends."""

    def serve_one(connected: socket.socket) -> None:
        with connected:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                serve(connected)
            except (ConnectionError, ssl.SSLError):
                return  # a client that has what it wanted just goes

    while True:
        connected, _ = listening.accept()
        threading.Thread(target=serve_one, args=(connected,), daemon=True).start()


def main() -> None:
    """Listen on two free loopback ports until killed."""
    task = first_line()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(task["certificate_file"], task["key_file"])
    context.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_server((HOST, 0)) as plain, socket.create_server((HOST, 0)) as tls:
        answer({"plain_port": plain.getsockname()[1], "tls_port": tls.getsockname()[1]})
        serve = functools.partial(serve_tls, context)
        threading.Thread(target=listen, args=(tls, serve), daemon=True).start()
        listen(plain, serve_plain)


if __name__ == "__main__":
    main()
