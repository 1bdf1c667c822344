from __future__ import annotations

import asyncio
import contextlib
import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import cast

import pytest

from reflet.errors import ConfigurationError
from reflet.node.identity.machine import machine_addresses
from reflet.node.server.ports import IN_THE_CLEAR, AgentPorts
from reflet.node.server.review import ReaderReview
from reflet.transport.serving.http_answers import Answer, Question, text
from tests.unit.transport.pem_material import make_pair, server_context

LOOPBACK = ("127.0.0.1", 0)
LOGS = "containerLogs/shop/web/main"


class Readers:
    """Lets those ask who bring a token."""

    async def refusal(self, question: Question) -> Answer | None:
        return None if "authorization" in question.headers else text(401, "who are you?")


async def pages(question: Question) -> Answer:
    return text(200, f"this is {question.path[0]}{' for readers' * question.is_reader}")


def ports(
    *,
    plain: tuple[str, int] | None = LOOPBACK,
    secure: ssl.SSLContext | None = None,
    connections: int = 64,
) -> AgentPorts:
    return AgentPorts(
        pages,
        cast("ReaderReview", Readers()),
        plain=plain,
        secure=None if secure is None else (LOOPBACK, secure),
        connections=connections,
    )


@pytest.fixture
def context(tmp_path: Path) -> ssl.SSLContext:
    return server_context(make_pair("node"), tmp_path)


async def asked(url: str, path: str, *, with_token: bool = False) -> str:
    """The status and the words at a port; the certificate that is shown does not matter here."""
    scheme, _, place = url.partition("://")
    host, _, port = place.rpartition(":")
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=trusting if scheme == "https" else None
    )
    token = "Authorization: Bearer good\r\n" if with_token else ""
    writer.write(f"GET /{path} HTTP/1.1\r\n{token}\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return f"{head.split()[1]} {body.strip()}"


async def test_the_plain_port_tells_everybody_all_but_logs() -> None:
    async with ports() as agent:
        answers = [
            await asked(agent.plain_url, path) for path in ("livez", "metrics", "pods", LOGS)
        ]
        reader = await asked(agent.plain_url, LOGS, with_token=True)

    assert answers == [
        "200 this is livez",
        "200 this is metrics",
        "200 this is pods",
        "401 who are you?",
    ]
    assert reader == "200 this is containerLogs for readers"


@pytest.mark.parametrize("page", ["exec", "attach", "portForward", "containerLogs", "anything"])
async def test_what_is_not_for_everybody_is_for_readers_alone(page: str) -> None:
    async with ports() as agent:
        stranger = await asked(agent.plain_url, f"{page}/shop/web/main")
        reader = await asked(agent.plain_url, f"{page}/shop/web/main", with_token=True)

    assert (stranger, reader) == ("401 who are you?", f"200 this is {page} for readers")


async def test_on_loopback_a_reader_sees_all_of_the_pods() -> None:
    async with ports() as agent:
        stranger = await asked(agent.plain_url, "pods")
        reader = await asked(agent.plain_url, "pods", with_token=True)

    assert (stranger, reader) == ("200 this is pods", "200 this is pods for readers")


@pytest.fixture
def elsewhere() -> str:
    """An address of this machine that is not loopback."""
    found = [each for each in machine_addresses() if not ip_address(each).is_loopback]
    if not found or ":" in found[0]:
        pytest.skip("this machine has no address but loopback")
    return found[0]


async def test_on_other_addresses_a_token_is_not_looked_at(elsewhere: str) -> None:
    async with ports(plain=(elsewhere, 0)) as agent:
        logs = [await asked(agent.plain_url, LOGS, with_token=each) for each in (False, True)]
        pods = await asked(agent.plain_url, "pods", with_token=True)
        health = await asked(agent.plain_url, "livez")

    assert set(logs) == {f"403 {IN_THE_CLEAR}"}
    assert (pods, health) == ("200 this is pods", "200 this is livez")


@pytest.mark.parametrize(
    ("peer", "status"),
    [
        ("127.0.0.1", 200),
        ("127.9.9.9", 200),
        ("::1", 200),
        ("192.0.2.7", 403),
        ("2001:db8::/64", 403),
        ("", 403),
    ],
)
async def test_logs_in_the_clear_are_for_loopback_alone(peer: str, status: int) -> None:
    headers = {"authorization": "Bearer good"}
    question = Question(tuple(LOGS.split("/")), {}, headers, peer=peer)

    answer = await ports()._answer_anybody(question)

    assert isinstance(answer, Answer)
    assert answer.status == status


@pytest.mark.parametrize(
    ("host", "is_told"),
    [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", True), ("192.0.2.7", False)],
)
def test_a_port_where_logs_are_not_answered_is_not_told(host: str, is_told: bool) -> None:
    assert (ports(plain=(host, 7)).logs_port == 7) is is_told


async def test_the_secure_port_answers_only_those_who_may_ask(context: ssl.SSLContext) -> None:
    async with ports(secure=context) as agent:
        paths = ("livez", "metrics", "pods", LOGS, "nothing")
        strangers = {await asked(agent.secure_url, path) for path in paths}
        readers = [await asked(agent.secure_url, path, with_token=True) for path in paths]

    assert strangers == {"401 who are you?"}
    assert [answer[:3] for answer in readers] == ["200"] * 5


async def test_beside_a_secure_port_the_plain_one_has_no_logs(context: ssl.SSLContext) -> None:
    async with ports(secure=context) as agent:
        logs = await asked(agent.plain_url, LOGS, with_token=True)
        health = await asked(agent.plain_url, "livez")
        port = agent.secure_url.rpartition(":")[2]

    assert logs == f"404 this is answered over TLS, at port {port}"
    assert health == "200 this is livez"


async def test_silence_at_the_secure_port_takes_nothing_from_the_plain_one(
    context: ssl.SSLContext,
) -> None:
    async with ports(secure=context, connections=8) as agent:
        place = ("127.0.0.1", port_of(agent.secure_url))
        silent = [await asyncio.open_connection(*place) for _ in range(20)]
        health = await asked(agent.plain_url, "livez")
        for _, writer in silent:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    assert health == "200 this is livez"


async def test_a_secure_port_does_not_speak_plainly(context: ssl.SSLContext) -> None:
    async with ports(secure=context) as agent:
        reader, writer = await asyncio.open_connection(*LOOPBACK[:1], port_of(agent.secure_url))
        writer.write(b"GET /livez HTTP/1.1\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert b"HTTP" not in answer


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def test_the_node_tells_the_port_that_has_logs(context: ssl.SSLContext) -> None:
    async with ports() as plain, ports(secure=context) as both, ports(plain=None) as none:
        assert plain.logs_port == port_of(plain.plain_url)
        assert both.logs_port == port_of(both.secure_url)
        assert (none.logs_port, none.plain_url, none.secure_url) == (0, "", "")


async def test_a_port_that_is_taken_leaves_the_other_one_free(context: ssl.SSLContext) -> None:
    async with ports() as first:
        taken = ("127.0.0.1", first.logs_port)
        second = ports(plain=taken, secure=context)
        with pytest.raises(ConfigurationError, match=f"port {first.logs_port}"):
            async with second:
                pass

    with pytest.raises(ConnectionRefusedError):
        await asked(second.secure_url, "livez")


def test_an_address_with_colons_is_bracketed() -> None:
    assert ports(plain=("::1", 10248)).plain_url == "http://[::1]:10248"
