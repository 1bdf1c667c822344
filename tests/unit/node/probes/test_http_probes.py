from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from reflet.node.probes.http_probes import (
    LONGEST_BODY,
    PLAIN_ANSWER,
    BrokenAnswer,
    HttpAnswer,
    HttpRequest,
    NoAnswer,
    get,
    http_request,
)

HERE = "127.0.0.1"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Page:
    """Answers each request with the next of *answers*, the last one again and again."""

    answers: list[bytes]
    port: int = 0
    asked: list[bytes] = field(default_factory=list)
    open: list[asyncio.Task[Any] | None] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
        except asyncio.IncompleteReadError:  # nobody asked anything
            writer.close()
            return
        said = self.answers[min(len(self.asked), len(self.answers)) - 1]
        writer.write(said.replace(b"PORT", str(self.port).encode()))
        if b"never" in said:
            self.open.append(asyncio.current_task())
            await reader.read()
        writer.close()


@asynccontextmanager
async def page(*answers: bytes) -> AsyncIterator[Page]:
    served = Page(list(answers))
    server = await asyncio.start_server(served.answer, HERE, 0)
    served.port = server.sockets[0].getsockname()[1]
    async with server:
        yield served
        await asyncio.gather(*filter(None, served.open))


def asking(port: int, path: str = "/", *headers: tuple[str, str], **changes: Any) -> HttpRequest:
    settings: dict[str, Any] = {"scheme": "http", "place": (HERE, port), "agent": "kube-probe/1.36"}
    return http_request(path=path, headers=headers, **settings | changes)


async def answered(*answers: bytes, seconds: float = 10) -> HttpAnswer:
    async with page(*answers) as served:
        return await get(asking(served.port), seconds=seconds)


async def failed(*answers: bytes, seconds: float = 10) -> str:
    async with page(*answers) as served:
        with pytest.raises(NoAnswer) as caught:
            await get(asking(served.port), seconds=seconds)
    return str(caught.value).replace(str(served.port), "PORT")


def unused_port() -> int:
    with socket.create_server((HERE, 0)) as listening:
        return int(listening.getsockname()[1])


# What is asked


async def test_the_request_is_the_kubelets() -> None:
    async with page(OK) as served:
        await get(asking(served.port, "live?x=1 2#y"), seconds=10)

    assert served.asked == [
        b"GET /live?x=1%202 HTTP/1.1\r\n"
        + f"Host: {HERE}:{served.port}\r\n".encode()
        + b"User-Agent: kube-probe/1.36\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    ]


async def test_headers_of_the_probe_come_before_the_usual_ones() -> None:
    given = (("Host", "shop.example"), ("user-agent", "me"), ("Accept", ""), ("X-A", "1"))
    async with page(OK) as served:
        await get(asking(served.port, "/", *given), seconds=10)

    lines = served.asked[0].split(b"\r\n")
    assert lines[1:4] == [b"Host: shop.example", b"user-agent: me", b"X-A: 1"]
    assert not any(line.startswith(b"Accept") for line in lines)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (("X-A", "1\r\nX-B: 2"), 'net/http: invalid header field value for "X-A"'),
        (("X A", "1"), 'net/http: invalid header field name "X A"'),
    ],
)
async def test_a_header_cannot_bring_another_one_along(header: tuple[str, str], said: str) -> None:
    async with page(OK) as served:
        with pytest.raises(NoAnswer) as caught:
            await get(asking(served.port, "/", header), seconds=10)

    assert str(caught.value) == f'Get "http://{HERE}:{served.port}/": {said}'


def test_an_address_of_the_newer_kind_is_written_in_brackets() -> None:
    assert asking(1, place=("::1", 80)).url == "http://[::1]:80/"


# What is answered


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (OK, HttpAnswer(200, "ok")),
        (b"HTTP/1.0 503 Busy\r\n\r\nlater", HttpAnswer(503, "later")),
        (b"HTTP/1.1 204 Empty\r\n\r\n", HttpAnswer(204, "")),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, HttpAnswer(200, "ok")),
        (
            CHUNKED + b"3;a=b\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
            HttpAnswer(200, "abcde"),
        ),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", HttpAnswer(304, "")),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 1\r\n\r\nx", HttpAnswer(302, "x")),
    ],
)
async def test_an_answer_is_its_status_and_its_body(said: bytes, answer: HttpAnswer) -> None:
    assert await answered(said) == answer


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
        CHUNKED + b"FFFFFF\r\n",
    ],
)
async def test_of_a_long_body_only_the_beginning_is_read(head: bytes) -> None:
    answer = await answered(head + b"x" * 3 * LONGEST_BODY)

    assert answer == HttpAnswer(200, "x" * LONGEST_BODY)


async def test_a_redirect_on_the_host_is_followed() -> None:
    away = b"HTTP/1.1 302 Found\r\nLocation: /there?x=1\r\n\r\n"
    further = b"HTTP/1.1 308 Moved\r\nLocation: http://127.0.0.1:PORT/end\r\n\r\n"
    async with page(away, further, OK) as served:
        answer = await get(asking(served.port), seconds=10)

    assert answer == HttpAnswer(200, "ok")
    assert [each.split()[1] for each in served.asked] == [b"/", b"/there?x=1", b"/end"]


async def test_a_redirect_to_another_host_is_the_answer() -> None:
    answer = await answered(
        b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 2\r\n\r\ngo"
    )

    assert answer == HttpAnswer(302, "go")


async def test_redirects_are_not_followed_for_ever() -> None:
    said = await failed(b"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n")

    assert said == f'Get "http://{HERE}:PORT/again": stopped after 10 redirects'


# What goes wrong


async def test_nobody_listening_is_told_as_the_kubelet_tells_it() -> None:
    port = unused_port()

    with pytest.raises(NoAnswer) as caught:
        await get(asking(port), seconds=10)

    said = f"dial tcp {HERE}:{port}: connect: connection refused"
    assert str(caught.value) == f'Get "http://{HERE}:{port}/": {said}'


async def test_no_answer_in_time_is_told_as_the_kubelet_tells_it() -> None:
    said = await failed(b"HTTP/1.1 200 OK\r\nX: never ends\r\n", seconds=0.05)

    assert said == (
        f'Get "http://{HERE}:PORT/": context deadline exceeded '
        "(Client.Timeout exceeded while awaiting headers)"
    )


async def test_an_answer_that_is_none_is_told_without_what_it_says() -> None:
    assert await failed(b"") == f'Get "http://{HERE}:PORT/": EOF'
    said = await failed(b"SSH-2.0-s3cret\r\n\r\n")
    assert "malformed" in said
    assert "s3cret" not in said


async def test_a_head_without_end_is_not_read_to_its_end() -> None:
    said = await failed(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000)

    assert "exceeded" in said


async def test_a_body_that_breaks_off_says_nothing_about_the_container() -> None:
    with pytest.raises(BrokenAnswer, match="unexpected EOF"):
        await answered(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
    with pytest.raises(BrokenAnswer, match="while reading body"):
        await answered(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnever", seconds=0.05)
    with pytest.raises(BrokenAnswer):
        await answered(b"HTTP/1.1 200 OK\r\nContent-Length: -9\r\n\r\nok")


async def test_https_to_a_plain_server_is_told_as_the_kubelet_tells_it() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, HERE, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NoAnswer) as caught:
            await get(asking(port, scheme="https"), seconds=10)

    assert str(caught.value) == f'Get "https://{HERE}:{port}/": {PLAIN_ANSWER}'
