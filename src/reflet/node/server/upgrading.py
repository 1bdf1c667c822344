"""Which protocol a request for a stream gets: WebSocket or SPDY/3.1, and what is spoken in it.

An API server of 1.36 passes WebSockets through, since the node declares that it takes them; earlier
ones turn those of version 5 into SPDY/3.1.  All pass through what kubectl sends as SPDY/3.1.

Upstream: streaming/pkg/httpstream/spdy/upgrade.go; wsstream/conn.go; httpstream.go, Handshake
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reflet.transport.serving.http_answers import Answer, Question, text
from reflet.transport.upgrades.websocket_frames import accept_key

SPDY: Final = "SPDY/3.1"


@dataclass(frozen=True, slots=True)
class Agreed:
    """What both sides speak from now on, and the headers that say so."""

    is_websocket: bool
    protocol: str
    headers: tuple[tuple[str, str], ...]


def agreed_protocol(
    question: Question, *, websocket: Sequence[str], spdy: Sequence[str], unnamed: str = ""
) -> Agreed | Answer:
    """The first of the client's protocols that is among ours, or why there is none.

    *unnamed* is what is spoken over a WebSocket for which none was named.
    """
    headers = question.headers
    asked = headers.get("upgrade", "").lower()
    if asked == "websocket":
        offered, ours = headers.get("sec-websocket-protocol", ""), websocket
    elif asked == SPDY.lower():
        offered, ours = headers.get("x-stream-protocol-version", ""), spdy
    else:
        return text(400, "this is answered to an upgrade, to WebSocket or SPDY/3.1, alone")
    chosen = next((word for each in offered.split(",") if (word := each.strip()) in ours), None)
    is_unnamed = asked == "websocket" and not offered
    chosen = (unnamed or None) if is_unnamed else chosen
    if chosen is None:
        return text(403, f"unable to upgrade: {offered or 'nothing'} is none of {', '.join(ours)}")
    if asked != "websocket":
        named = ("X-Stream-Protocol-Version", chosen)
        return Agreed(False, chosen, (("Connection", "Upgrade"), ("Upgrade", SPDY), named))
    key = headers.get("sec-websocket-key", "")
    if not key or headers.get("sec-websocket-version") != "13":
        return text(400, "this is no handshake of a WebSocket of version 13")
    answers = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Accept", accept_key(key)),
    ]
    if not is_unnamed:
        answers.append(("Sec-WebSocket-Protocol", chosen))
    return Agreed(True, chosen, tuple(answers))
