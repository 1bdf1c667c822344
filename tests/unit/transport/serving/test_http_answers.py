from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.node.shim.protocol import ShimUnavailable
from reflet.transport.serving import http_answers
from reflet.transport.serving.http_answers import (
    HANDSHAKE_TIMEOUT,
    LONGEST_REQUEST,
    REQUEST_TIMEOUT,
    Answer,
    Answering,
    HttpAnswers,
    Question,
    text,
)
from tests.crowds import harm_done
from tests.patience import within
from tests.unit.transport.pem_material import make_pair, server_context


async def pieces() -> AsyncGenerator[bytes, None]:
    yield b"one "
    yield b"two"


async def answering(question: Question) -> Answer:
    match question.path:
        case ("hello", name):
            return text(200, f"hello {name} {question.query.get('q', '')}".strip())
        case ("stream",):
            return Answer(200, pieces())
        case ("broken",):
            raise RuntimeError("boom")
        case _:
            return text(404, "nothing here")


async def asked(request: bytes, answer_with: Answering = answering) -> str:
    async with HttpAnswers("127.0.0.1", 0, answer_with) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    return answer.decode()


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode()


async def test_a_question_is_answered_once() -> None:
    answer = await asked(get("/hello/a%20b?q=1"))

    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert answer.endswith("\r\n\r\nhello a b 1\n")


async def test_a_stream_comes_in_pieces() -> None:
    assert (await asked(get("/stream"))).endswith("\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"GET /hello/a\r\n\r\n", 400),
        (b"GET  /hello/a HTTP/1.1\r\n\r\n", 400),
        (b"GET /hello/a b HTTP/1.1\r\n\r\n", 400),
        (b"GET /hello/a HTTP/2.0\r\n\r\n", 400),
        (b"GET /hello/a FTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00 \xff \x00\r\n\r\n", 400),
        (get("//["), 400),
        (get("//a]b"), 400),
        (b"POST / HTTP/1.1\r\n\r\n", 405),
        (b"get /hello/a HTTP/1.1\r\n\r\n", 405),
        (b"HEAD /hello/a HTTP/1.1\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000, 400),
        (b"GET /" + b"x" * LONGEST_REQUEST + b" HTTP/1.1\r\n\r\n", 400),
        (get("/nothing"), 404),
        (get("/broken"), 500),
    ],
)
async def test_bad_questions_get_short_answers(request_text: bytes, status: int) -> None:
    assert (await asked(request_text)).startswith(f"HTTP/1.1 {status} ")


async def test_when_to_ask_again_is_told_where_it_is_known() -> None:
    async def busy(_: Question) -> Answer:
        return text(429, "not now", retry_after=7)

    answer = await asked(get("/"), busy)

    assert answer.startswith("HTTP/1.1 429 Too Many Requests\r\n")
    assert "\r\nRetry-After: 7\r\n" in answer
    assert "Retry-After" not in await asked(get("/hello/a"))


async def test_a_request_that_breaks_off_is_none() -> None:
    async with HttpAnswers("127.0.0.1", 0, answering) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /hello/a HTT")
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.virtual_time
async def test_whoever_is_slow_to_ask_is_left() -> None:
    async with HttpAnswers("127.0.0.1", 0, answering) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /hello/a HTTP/1.1\r\nX: ")

        assert await reader.read() == b""
        assert asyncio.get_running_loop().time() == pytest.approx(REQUEST_TIMEOUT)
        writer.close()
        await writer.wait_closed()


async def test_a_failure_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    answer = await asked(get("/broken"))

    assert "boom" not in answer
    assert "a request failed: /broken" in caplog.messages


def the_question(request: bytes) -> Question:
    heard: list[Question] = []

    async def listen(question: Question) -> Answer:
        heard.append(question)
        return text(200, "ok")

    asyncio.run(asked(request, listen))
    (question,) = heard
    return question


def test_a_path_is_taken_apart_before_it_is_unquoted() -> None:
    assert the_question(get("/a%2Fb//c/")).path == ("a/b", "c")


def test_a_query_keeps_what_has_no_value() -> None:
    assert the_question(get("/a?verbose&x=1%202&x=3")).query == {"verbose": "", "x": "3"}


def test_headers_are_found_whatever_their_letters_and_what_is_none_is_left_out() -> None:
    question = the_question(b"GET / HTTP/1.1\r\nAUTHORIZATION:  Bearer a:b \r\nnonsense\r\n\r\n")

    assert question.headers == {"authorization": "Bearer a:b"}


def test_what_proves_who_asks_is_not_shown() -> None:
    assert "s3cret" not in repr(Question((), {}, {"authorization": "Bearer s3cret"}))


def test_whoever_shows_no_certificate_has_no_name() -> None:
    assert the_question(get("/")).subject == ""


async def test_whoever_shows_a_certificate_is_known_by_its_name(tmp_path: Path) -> None:
    server_pair = make_pair("server", host="here")
    client_pair = make_pair("system:admin", groups=["readers", "system:masters"])
    context = server_context(server_pair, tmp_path, asks_for=client_pair.certificate)
    client = ssl.create_default_context(cadata=server_pair.certificate.decode())
    (tmp_path / "client.crt").write_bytes(client_pair.certificate)
    (tmp_path / "client.key").write_bytes(client_pair.key)
    client.load_cert_chain(tmp_path / "client.crt", tmp_path / "client.key")

    async def who(question: Question) -> Answer:
        return text(200, f"hello {question.subject} of {', '.join(question.groups)}")

    async with HttpAnswers("127.0.0.1", 0, who, context=context) as server:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", server.port, ssl=client, server_hostname="here"
        )
        writer.write(get("/"))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert answer.endswith(b"hello system:admin of readers, system:masters\n")


async def test_whoever_does_not_say_farewell_is_left_at_the_end(tmp_path: Path) -> None:
    context = server_context(make_pair("server"), tmp_path)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE

    def ask(port: int) -> ssl.SSLSocket:
        wrapped = client.wrap_socket(socket.create_connection(("127.0.0.1", port)))
        wrapped.sendall(get("/hello/a"))
        assert wrapped.recv(12) == b"HTTP/1.1 200"
        return wrapped

    async with HttpAnswers("127.0.0.1", 0, answering, context=context) as server:
        silent = await asyncio.to_thread(ask, server.port)
    hang_up = select.poll()
    hang_up.register(silent, select.POLLRDHUP)
    noticed = await asyncio.to_thread(hang_up.poll, REQUEST_TIMEOUT / 2 * 1000)
    silent.close()

    assert noticed


async def never_ending() -> AsyncGenerator[bytes, None]:
    while True:
        yield bytes(LONGEST_REQUEST)


async def quiet() -> AsyncGenerator[bytes, None]:
    yield b"one"
    await asyncio.Event().wait()


@pytest.mark.parametrize("body", [never_ending, quiet])
@pytest.mark.parametrize("with_tls", [False, True])
async def test_nobody_who_stops_reading_keeps_a_program_from_ending(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: Callable[[], AsyncGenerator[bytes, None]],
    with_tls: bool,
) -> None:
    monkeypatch.setattr(http_answers, "REQUEST_TIMEOUT", 1000.0)
    context = server_context(make_pair("server"), tmp_path) if with_tls else None
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE

    async def stream(_: Question) -> Answer:
        return Answer(200, body())

    def ask(port: int) -> socket.socket:
        opened = socket.create_connection(("127.0.0.1", port))
        if with_tls:
            opened = client.wrap_socket(opened)
        opened.sendall(get("/"))
        assert opened.recv(12) == b"HTTP/1.1 200"
        return opened

    async with within(10), HttpAnswers("127.0.0.1", 0, stream, context=context) as server:
        silent = await asyncio.to_thread(ask, server.port)
    silent.close()


def streaming(*steps: bytes | Exception) -> Answering:
    """Answers with these pieces, one after the other, and breaks off where a step says so."""

    async def give() -> AsyncGenerator[bytes, None]:
        for step in steps:
            if isinstance(step, Exception):
                raise step
            yield step

    async def answer(_: Question) -> Answer:
        return Answer(200, give())

    return answer


async def test_an_empty_piece_is_not_the_end_of_a_stream() -> None:
    answer = await asked(get("/"), streaming(b"one", b"", b"two"))

    assert answer.endswith("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "failure", [ShimUnavailable("the shim is away"), OSError(113, "No route to host")]
)
async def test_a_stream_that_breaks_off_looks_so_and_is_logged_and_no_more(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await asked(get("/"), streaming(b"one", failure))

    assert answer.endswith("\r\n\r\n3\r\none\r\n")
    assert caplog.messages == [f"an answer is not finished: {failure}"]


async def test_whoever_leaves_ends_a_stream_that_is_silent() -> None:
    ended = asyncio.Event()

    async def silence(_: Question) -> Answer:
        async def nothing() -> AsyncGenerator[bytes, None]:
            try:
                await asyncio.sleep(3600)
                yield b""
            finally:
                ended.set()

        return Answer(200, nothing())

    async with HttpAnswers("127.0.0.1", 0, silence) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get("/"))
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(10):
            await ended.wait()


async def test_an_address_that_is_taken_is_named() -> None:
    async with HttpAnswers("127.0.0.1", 0, answering) as first:
        with pytest.raises(ConfigurationError, match=f"port {first.port}"):
            async with HttpAnswers("127.0.0.1", first.port, answering):
                pass


async def left(writers: Iterable[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def test_silent_connections_count_before_tls_and_the_oldest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_answers, "HANDSHAKE_TIMEOUT", 3600.0)  # nothing but the limit ends one
    context = server_context(make_pair("server"), tmp_path)
    async with HttpAnswers("127.0.0.1", 0, answering, context=context, most=4) as server:
        silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        heard = [await reader.read() for reader, _ in silent[:3]]
        stays = [reader.at_eof() for reader, _ in silent[3:]]
        await left(writer for _, writer in silent)

    assert (heard, stays) == ([b""] * 3, [False] * 2)


@pytest.mark.virtual_time
async def test_a_handshake_has_its_own_time(tmp_path: Path) -> None:
    context = server_context(make_pair("server"), tmp_path)
    async with HttpAnswers("127.0.0.1", 0, answering, context=context) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)

        assert await reader.read() == b""
        assert asyncio.get_running_loop().time() == pytest.approx(HANDSHAKE_TIMEOUT)
        writer.close()
        await writer.wait_closed()


async def test_a_probe_is_answered_while_its_own_address_fills_the_port_with_silence() -> None:
    async with HttpAnswers("127.0.0.1", 0, answering, most=4) as server:
        silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(20)]
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get("/hello/a"))
        answer = await reader.read()
        await left([writer, *(each for _, each in silent)])

    assert answer.startswith(b"HTTP/1.1 200")


async def test_whoever_has_asked_stays_and_another_of_the_same_peer_is_turned_away() -> None:
    asked_for, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(question: Question) -> Answer:
        asked_for.set()
        await goes_on.wait()
        return await answering(question)

    async with HttpAnswers("127.0.0.1", 0, slow, most=2) as server:
        hearing, first = await asyncio.open_connection("127.0.0.1", server.port)
        first.write(get("/hello/a"))
        await asked_for.wait()
        reader, second = await asyncio.open_connection("127.0.0.1", server.port)
        turned_away = await reader.read()
        goes_on.set()
        answered = await hearing.read()
        for writer in (first, second):
            writer.close()
            await writer.wait_closed()

    assert (turned_away, answered[:12]) == (b"", b"HTTP/1.1 200")


async def test_the_place_of_one_who_has_left_is_free_again() -> None:
    answers = []
    async with HttpAnswers("127.0.0.1", 0, answering, most=2) as server:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(get("/hello/a"))
            answers.append(await reader.read())
            writer.close()
            await writer.wait_closed()

    assert [answer[:12] for answer in answers] == [b"HTTP/1.1 200"] * 3


async def test_whoever_still_listens_at_the_end_is_told_nothing_more() -> None:
    began = asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        yield b"one"
        began.set()
        await asyncio.Event().wait()

    async def answer(_: Question) -> Answer:
        return Answer(200, endless())

    async with HttpAnswers("127.0.0.1", 0, answer) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get("/"))
        await began.wait()
    heard = await reader.read()
    writer.close()
    await writer.wait_closed()

    assert heard.endswith(b"3\r\none\r\n")


@pytest.mark.parametrize("rounds", range(8))
async def test_whoever_comes_while_it_closes_does_no_harm(rounds: int) -> None:
    server = HttpAnswers("localhost", 0, answering)

    assert await harm_done(server, lambda it: ("127.0.0.1", it.port), rounds=rounds) == []


async def test_whoever_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield bytes(1 << 20)
        finally:
            ended.set()

    async def answer_without_end(_: Question) -> Answer:
        return Answer(200, endless())

    monkeypatch.setattr(http_answers, "REQUEST_TIMEOUT", 0.05)
    async with HttpAnswers("127.0.0.1", 0, answer_without_end) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as silent:
            silent.sendall(get("/stream"))

            await asyncio.wait_for(ended.wait(), 10)
