"""Requests to web servers: answers, redirects, retries, passwords, proxies, certificates."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TLSFailure, TransportError
from reflet.transport.http.retry_series import RetryPolicy
from reflet.transport.http.web_client import (
    RetriesExceeded,
    WebAnswer,
    WebClient,
    WebRequest,
    shown_address,
)
from tests.unit.transport.dialling import vacated_port
from tests.unit.transport.scripted_certificates import TRUSTED, authority_pem, server_context
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

ONCE = RetryPolicy()
THRICE = RetryPolicy(total=2, connect=2, read=2, factor=1.0, statuses=frozenset({500}))

Script = Callable[[Http1Peer], Awaitable[None]]


def answering(*answers: tuple[str, bytes] | tuple[str, bytes, list[tuple[str, str]]]) -> Script:
    """Gives one answer after the other, each on a connection of its own."""
    left = list(answers)

    async def script(peer: Http1Peer) -> None:
        await peer.request()
        status, body, *headers = left.pop(0)
        peer.answer(body, status=status, headers=headers[0] if headers else ())
        await peer.client_left()

    return script


def client(environ: Mapping[str, str] | None = None, **options: Any) -> WebClient:
    return WebClient(timeout=5, environ=environ or {}, **options)


def header(server: Http1Server, name: str, number: int = -1) -> str | None:
    return {key.lower(): value for key, value in server.requests[number].headers}.get(name)


async def nothing(_: float) -> None:
    return


async def test_an_answer_has_status_reason_and_body() -> None:
    async with Http1Server(answering(("404 Not Found", b"gone"))) as server:
        answer = await client().send(WebRequest(url=f"{server.url}/a?b=c"), ONCE)

    assert (answer.status, answer.reason, answer.body) == (404, "Not Found", b"gone")
    assert not answer.is_good
    assert server.requests[0].target == "/a?b=c"


async def test_a_post_without_a_body_says_so_and_has_no_type() -> None:
    async with Http1Server(answering(("200 OK", b""))) as server:
        await client().send(WebRequest(url=server.url, method="POST"), ONCE)

    assert server.requests[0].method == "POST"
    assert header(server, "content-length") == "0"
    assert header(server, "content-type") is None


async def test_a_body_is_sent_with_its_type() -> None:
    async with Http1Server(answering(("200 OK", b""))) as server:
        request = WebRequest(
            url=server.url, method="POST", body=b"{}", content_type="application/json"
        )
        await client().send(request, ONCE)

    assert server.requests[0].body == b"{}"
    assert header(server, "content-type") == "application/json"


async def test_a_status_that_is_no_answer_is_tried_again() -> None:
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    script = answering(*[("500 Oops", b"")] * 2, ("200 OK", b"at last"))
    async with Http1Server(script) as server:
        answer = await client().send(WebRequest(url=server.url), THRICE, pause=pause)

    assert answer.body == b"at last"
    assert waited == [0.0, 2.0]


async def test_after_the_last_try_it_says_how_it_was_answered() -> None:
    async with Http1Server(answering(*[("500 Oops", b"")] * 3)) as server:
        with pytest.raises(RetriesExceeded, match="too many 500 error responses") as failed:
            await client().send(WebRequest(url=server.url), THRICE, pause=nothing)

    assert failed.value.status == 500
    assert len(server.requests) == 3


async def test_a_server_that_asks_for_time_gets_it() -> None:
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    script = answering(("429 Slow down", b"", [("Retry-After", "7")]), ("200 OK", b""))
    async with Http1Server(script) as server:
        await client().send(WebRequest(url=server.url), THRICE, pause=pause)

    assert waited == [7.0]


async def test_nobody_there_is_tried_again_and_then_said() -> None:
    url = f"http://127.0.0.1:{vacated_port()}/secret?token=x"
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    with pytest.raises(ConnectionRefused) as failed:
        await client().send(WebRequest(url=url), THRICE, pause=pause)

    assert len(waited) == 2
    assert "connection refused" in str(failed.value)
    assert "secret" not in str(failed.value)


async def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    async def never(peer: Http1Peer) -> None:
        await peer.request()
        await peer.client_left()

    async with Http1Server(never) as server:
        with pytest.raises(DeadlineExceeded):
            await WebClient(timeout=0.05, environ={}).send(WebRequest(url=server.url), ONCE)


async def test_a_connection_that_breaks_is_tried_again() -> None:
    async def broken(peer: Http1Peer) -> None:
        await peer.request()
        peer.reset()

    async with Http1Server(broken) as server:
        with pytest.raises(TransportError):
            await client().send(WebRequest(url=server.url), THRICE, pause=nothing)

    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "method", "then", "body"),
    [
        ("302 Found", "POST", "GET", b""),
        ("301 Moved", "POST", "GET", b""),
        ("303 See Other", "POST", "GET", b""),
        ("307 Temporary", "POST", "POST", b"{}"),
        ("302 Found", "GET", "GET", b""),
    ],
)
async def test_redirects_are_followed_as_browsers_do(
    status: str, method: str, then: str, body: bytes
) -> None:
    script = answering((status, b"", [("Location", "/there")]), ("200 OK", b"found"))
    async with Http1Server(script) as server:
        sent = b"{}" if method == "POST" else None
        request = WebRequest(url=f"{server.url}/here", method=method, body=sent)
        answer = await client().send(request, ONCE)

    assert answer.body == b"found"
    assert (server.requests[1].method, server.requests[1].target) == (then, "/there")
    assert server.requests[1].body == body


async def test_a_circle_of_redirects_ends() -> None:
    async def round_and_round(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(status="302 Found", headers=[("Location", "/")])
        await peer.client_left()

    async with Http1Server(round_and_round) as server:
        with pytest.raises(TransportError, match="more than 30 redirects"):
            await client().send(WebRequest(url=server.url), ONCE)


async def test_a_login_is_sent_and_not_passed_on_to_another_server() -> None:
    async with Http1Server(answering(("200 OK", b""))) as other:
        there = f"http://localhost:{other.port}/"
        script = answering(("302 Found", b"", [("Location", there)]))
        async with Http1Server(script) as server:
            await client().send(WebRequest(url=server.url, login=(b"u", b"p:\xf6")), ONCE)

    sent = base64.b64encode(b"u:p:\xf6").decode()
    assert header(server, "authorization") == f"Basic {sent}"
    assert header(other, "authorization") is None


async def test_a_login_stays_with_its_server() -> None:
    script = answering(("302 Found", b"", [("Location", "/there")]), ("200 OK", b""))
    async with Http1Server(script) as server:
        await client().send(WebRequest(url=server.url, login=(b"u", b"p")), ONCE)

    assert header(server, "authorization", 1) == header(server, "authorization", 0) is not None


async def test_netrc_has_the_login_of_a_server(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password mine\n")
    (tmp_path / ".netrc").chmod(0o600)
    async with Http1Server(answering(*[("200 OK", b"")] * 2)) as server:
        await client({"HOME": str(tmp_path)}).send(WebRequest(url=server.url), ONCE)
        await client({}).send(WebRequest(url=server.url), ONCE)

    sent = base64.b64encode(b"me:mine").decode()
    assert header(server, "authorization", 0) == f"Basic {sent}"
    assert header(server, "authorization", 1) is None


async def test_an_address_may_hold_a_login_that_is_not_sent_in_it() -> None:
    async with Http1Server(answering(("200 OK", b""))) as server:
        await client().send(WebRequest(url=f"http://u:p@127.0.0.1:{server.port}/x"), ONCE)

    assert header(server, "authorization") == f"Basic {base64.b64encode(b'u:p').decode()}"
    assert server.requests[0].target == "/x"


async def test_the_environment_names_a_proxy() -> None:
    async with Http1Server(answering(("200 OK", b"by proxy"))) as proxy:
        environ = {"HTTP_PROXY": f"127.0.0.1:{proxy.port}"}
        answer = await client(environ).send(WebRequest(url="http://away.example/x"), ONCE)

    assert answer.body == b"by proxy"
    assert proxy.requests[0].target == "http://away.example/x"


async def test_a_certificate_must_be_trusted(tmp_path: Path) -> None:
    context = server_context("http/1.1")
    async with Http1Server(answering(*[("200 OK", b"")] * 3), context=context) as server:
        url = f"https://127.0.0.1:{server.port}/"
        with pytest.raises(TLSFailure, match="its certificate is not trusted"):
            await client().send(WebRequest(url=url), ONCE)

        bundle = tmp_path / "ca.pem"
        bundle.write_text(authority_pem(TRUSTED))
        trusting = client({"REQUESTS_CA_BUNDLE": str(bundle)})
        assert (await trusting.send(WebRequest(url=url), ONCE)).is_good
        assert (await client(insecure=True).send(WebRequest(url=url), ONCE)).is_good


@pytest.mark.parametrize(
    "url", ["", "x", "file:///etc/passwd", "http://", "http://[", "ftp://host/x"]
)
async def test_what_is_no_address_of_a_web_server_is_refused(url: str) -> None:
    with pytest.raises(TransportError, match="this is no address of a web server"):
        await client().send(WebRequest(url=url), ONCE)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"caf\xe9", "text/plain; charset=iso-8859-1", "café"),
        ("café".encode(), "text/plain", "café"),
        (b"caf\xe9", "text/plain", "café"),
        ("café".encode(), "application/json", "café"),
        ("café".encode(), 'text/plain; charset="utf-8"', "café"),
        ("café".encode(), "text/plain; charset=nonsense", "café"),
        ("café".encode(), "text/plain; charset=idna", "café"),
        ("café".encode(), "text/plain; charset=\udce9", "café"),
        (b"\xff", "application/octet-stream", "\ufffd"),
    ],
)
def test_text_is_read_by_its_charset(body: bytes, content_type: str, text: str) -> None:
    assert WebAnswer(200, "OK", {"content-type": content_type}, body).text() == text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://u:p@host:3000/reload?token=x#y", "http://host:3000/reload"),
        ("http://[", "what is no address"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert shown_address(url) == shown


def test_no_secret_is_in_a_repr() -> None:
    shown = repr(WebRequest(url="http://x/?t=hunter2", body=b"hunter2", login=(b"u", b"hunter2")))

    assert "hunter2" not in shown
