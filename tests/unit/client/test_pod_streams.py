"""What is asked for about pods: queries, refusals, and lines of logs."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from reflet.client import pod_streams
from reflet.client.pod_streams import PodStreams
from reflet.errors import Forbidden, MisuseError, NotFound, TransportError
from reflet.transport.interface import Response
from tests.unit.client.scripted_transport import ScriptedStream, ScriptedTransport
from tests.unit.client.upgrading_transport import UpgradingTransport


def logs_of(*chunks: bytes, status: int = 200) -> tuple[PodStreams, ScriptedTransport]:
    transport = ScriptedTransport(ScriptedStream(status, chunks))
    return PodStreams(transport, namespace="shop"), transport


async def test_logs_are_lines_however_they_arrive() -> None:
    streams, transport = logs_of(b"on", b"e\ntw", b"o\n\n", b"f\xffur")

    assert [line async for line in streams.logs("web")] == ["one", "two", "", "f\ufffdur"]
    assert transport.requests[0].path == "/api/v1/namespaces/shop/pods/web/log"


async def test_every_option_of_a_log_is_asked_for_in_the_servers_words() -> None:
    streams, transport = logs_of()
    options = streams.logs(
        "web",
        namespace="other",
        container="app",
        follow=True,
        previous=True,
        timestamps=True,
        since_seconds=5,
        tail_lines=0,
        limit_bytes=7,
        since_time=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert [line async for line in options] == []

    assert transport.requests[0].path == "/api/v1/namespaces/other/pods/web/log"
    assert dict(transport.requests[0].query) == {
        "follow": "true",
        "previous": "true",
        "timestamps": "true",
        "container": "app",
        "sinceSeconds": "5",
        "tailLines": "0",
        "limitBytes": "7",
        "sinceTime": "2026-01-02T00:00:00+00:00",
    }


async def test_a_line_without_an_end_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_streams, "LONGEST_LINE", 4)
    streams, _ = logs_of(b"abcdefghij", b"k\n")

    assert [line async for line in streams.logs("web")] == ["abcd", "efgh", "ijk"]


async def test_a_log_that_is_refused_is_an_api_error() -> None:
    streams, _ = logs_of(b"no such pod", status=404)

    with pytest.raises(NotFound, match="no such pod"):
        _ = [line async for line in streams.logs("web")]


async def test_a_log_that_is_left_is_closed() -> None:
    streams, transport = logs_of(b"one\n", b"two\n")
    async with aclosing(streams.logs("web", follow=True)) as lines:
        await anext(lines)
        assert transport.open_streams == 1

    assert transport.open_streams == 0


async def test_a_command_is_asked_for_with_its_streams() -> None:
    transport = UpgradingTransport()
    streams = PodStreams(transport, namespace="shop")
    async with streams.exec("web", ["ls", "-l"], container="app", stdin=True, tty=True):
        pass

    assert transport.requests[0].path == "/api/v1/namespaces/shop/pods/web/exec"
    assert transport.requests[0].query == (
        ("stdin", "true"),
        ("stdout", "true"),
        ("tty", "true"),
        ("command", "ls"),
        ("command", "-l"),
        ("container", "app"),
    )
    assert dict(transport.requests[0].headers)["sec-websocket-protocol"] == (
        "v5.channel.k8s.io, v4.channel.k8s.io"
    )


async def test_a_container_is_attached_to_with_its_streams() -> None:
    transport = UpgradingTransport()
    streams = PodStreams(transport, namespace="shop")
    async with streams.attach("web", namespace="other", stdin=True):
        pass

    assert transport.requests[0].path == "/api/v1/namespaces/other/pods/web/attach"
    assert transport.requests[0].query == (
        ("stdin", "true"),
        ("stdout", "true"),
        ("stderr", "true"),
    )


async def test_a_refused_upgrade_is_the_servers_own_error() -> None:
    body = b'{"kind":"Status","status":"Failure","reason":"Forbidden","message":"no","code":403}'
    transport = UpgradingTransport(refusal=Response(status=403, headers={}, body=body))

    with pytest.raises(Forbidden, match="no"):
        await PodStreams(transport, namespace="shop").run_in("web", ["true"])


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        (UpgradingTransport("chat"), "speaks none of"),
        (
            UpgradingTransport(refusal=Response(status=101, headers={}, body=b"")),
            "agreed to no WebSocket",
        ),
    ],
)
async def test_an_upgrade_to_something_else_is_an_error(
    transport: UpgradingTransport, words: str
) -> None:
    with pytest.raises(TransportError, match=words):
        await PodStreams(transport, namespace="shop").run_in("web", ["true"])


async def test_another_clients_connection_cannot_leave_http() -> None:
    with pytest.raises(MisuseError, match="a connection of Reflet's own"):
        await PodStreams(ScriptedTransport(), namespace="shop").run_in("web", ["true"])
