"""Which protocol a request for a stream gets: WebSocket or SPDY/3.1, and what is spoken in it.

A real API server turns the WebSockets of version 5 into SPDY/3.1 on its way to a node, and passes
those of version 4 through.  It would pass all through to a node that declares
``ExtendWebSocketsToKubelet``; this agent does not, since servers before 1.36 know nothing of that.

Upstream: streaming/pkg/httpstream/spdy/upgrade.go; wsstream/conn.go; httpstream.go, Handshake
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reflet.node.server.http_answers import Answer, Question, text
from reflet.transport.upgrades.websocket_frames import accept_key

SPDY: Final = "SPDY/3.1"


@dataclass(frozen=True, slots=True)
class Agreed:
    """What both sides speak from now on, and the headers that say so."""

    is_websocket: bool
    protocol: str
    headers: tuple[tuple[str, str], ...]


def agreed_protocol(
    question: Question, *, websocket: Sequence[str], spdy: Sequence[str]
) -> Agreed | Answer:
    """The first of the client's protocols that is among ours, or why there is none."""
    headers = question.headers
    match headers.get("upgrade", "").lower():
        case "websocket":
            offered, ours = headers.get("sec-websocket-protocol", ""), websocket
        case "spdy/3.1":
            offered, ours = headers.get("x-stream-protocol-version", ""), spdy
        case _:
            return text(400, "this is answered to an upgrade, to WebSocket or SPDY/3.1, alone")
    chosen = next((word for each in offered.split(",") if (word := each.strip()) in ours), None)
    if chosen is None:
        return text(403, f"unable to upgrade: {offered or 'nothing'} is none of {', '.join(ours)}")
    if ours is spdy:
        named = ("X-Stream-Protocol-Version", chosen)
        return Agreed(False, chosen, (("Connection", "Upgrade"), ("Upgrade", SPDY), named))
    key = headers.get("sec-websocket-key", "")
    if not key or headers.get("sec-websocket-version") != "13":
        return text(400, "this is no handshake of a WebSocket of version 13")
    answers = (
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Accept", accept_key(key)),
        ("Sec-WebSocket-Protocol", chosen),
    )
    return Agreed(True, chosen, answers)
