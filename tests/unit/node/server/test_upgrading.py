"""Which protocol a request gets, and which header says so."""

from __future__ import annotations

import pytest

from reflet.node.server.upgrading import Agreed, agreed_protocol
from reflet.transport.serving.http_answers import Answer, Question

KEY = {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13"}
OLD = {"sec-websocket-version": "8"}


def asked(**headers: str) -> Agreed | Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    question = Question(("exec",), {}, named)
    return agreed_protocol(question, websocket=("v5", "v4"), spdy=("v5", "v4"))


def test_a_websocket_gets_the_first_of_its_protocols_that_is_ours() -> None:
    agreed = asked(upgrade="WebSocket", sec_websocket_protocol="v6, v4,v5", **KEY)

    assert isinstance(agreed, Agreed)
    assert (agreed.is_websocket, agreed.protocol) == (True, "v4")
    assert dict(agreed.headers) == {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "Sec-WebSocket-Protocol": "v4",
    }


def test_spdy_gets_the_first_of_its_protocols_that_is_ours() -> None:
    agreed = asked(upgrade="SPDY/3.1", x_stream_protocol_version="v9, v5, v4")

    assert isinstance(agreed, Agreed)
    assert (agreed.is_websocket, agreed.protocol) == (False, "v5")
    assert ("X-Stream-Protocol-Version", "v5") in agreed.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"upgrade": "h2c"}, 400),
        ({"upgrade": "spdy/3.1"}, 403),
        ({"upgrade": "websocket", "sec_websocket_protocol": "chat", **KEY}, 403),
        ({"upgrade": "websocket", "sec_websocket_protocol": "v5"}, 400),
        ({"upgrade": "websocket", "sec_websocket_protocol": "v5", **KEY, **OLD}, 400),
    ],
)
def test_what_is_not_agreed_on_is_refused(headers: dict[str, str], status: int) -> None:
    answer = asked(**headers)

    assert isinstance(answer, Answer)
    assert answer.status == status


def test_a_websocket_that_names_no_protocol_gets_ours_unnamed_where_there_is_one() -> None:
    question = Question(("portForward",), {}, {"upgrade": "websocket", **KEY})
    agreed = agreed_protocol(question, websocket=("v4",), spdy=(), unnamed="v4")
    refused = agreed_protocol(question, websocket=("v4",), spdy=())

    assert isinstance(agreed, Agreed)
    assert (agreed.protocol, "Sec-WebSocket-Protocol" in dict(agreed.headers)) == ("v4", False)
    assert isinstance(refused, Answer)
    assert refused.status == 403
