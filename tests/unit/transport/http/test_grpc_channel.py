from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import h2.errors
import pytest
from h2.settings import SettingCodes

from reflet.errors import (
    DeadlineExceeded,
    MisuseError,
    RpcAlreadyExists,
    RpcDeadlineExceeded,
    RpcError,
    RpcNotFound,
    RpcUnavailable,
    RpcUnimplemented,
    TransportError,
)
from reflet.transport.http.grpc_channel import LARGEST_MESSAGE, GrpcChannel
from tests.cri_server import Call, CriServer, Script, framed

METHOD = "/runtime.v1.RuntimeService/Version"


async def called(path: Path, script: Script | RpcError) -> bytes:
    async with CriServer(path, Version=script) as server, GrpcChannel(str(server.path)) as channel:
        return await channel.call(METHOD, b"question", timeout=None)


async def failure_of(path: Path, script: Script | RpcError) -> RpcError:
    with pytest.raises(RpcError) as raised:
        await called(path, script)
    return raised.value


async def test_a_call_is_one_message_there_and_one_back(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.send(call.request.body[5:] + b" answered")
        call.end()

    async with CriServer(tmp_path / "s", Version=answer) as server:
        async with GrpcChannel(str(server.path), agent="tester") as channel:
            answered = await channel.call(METHOD, b"question", timeout=1.5)
        (request,) = server.requests

    headers = dict(request.headers)
    assert answered == b"question answered"
    assert (request.method, request.path) == ("POST", METHOD)
    assert (headers["content-type"], headers["te"]) == ("application/grpc", "trailers")
    assert (headers["user-agent"], headers["grpc-timeout"]) == ("tester", "1500m")
    assert headers[":scheme"] == "http"


async def test_an_empty_message_is_a_message(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.send(b"")
        call.end()

    assert await called(tmp_path / "s", answer) == b""


async def test_a_message_may_come_in_pieces(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        for byte in framed(b"answer"):
            await call.send_raw(bytes((byte,)))
        call.end()

    assert await called(tmp_path / "s", answer) == b"answer"


async def test_a_large_answer_comes_whole(tmp_path: Path) -> None:
    large = bytes(3 * 1024 * 1024)

    async def answer(call: Call) -> None:
        await call.send(large)
        call.end()

    assert await called(tmp_path / "s", answer) == large


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("NotFound", RpcNotFound),
        ("AlreadyExists", RpcAlreadyExists),
        ("Unimplemented", RpcUnimplemented),
        ("Unavailable", RpcUnavailable),
        ("DeadlineExceeded", RpcDeadlineExceeded),
        ("FailedPrecondition", RpcError),
    ],
)
async def test_what_the_server_says_is_an_error_of_its_own(
    tmp_path: Path, code: str, error: type[RpcError]
) -> None:
    failure = await failure_of(tmp_path / "s", RpcError(code, "no%20such"))

    assert type(failure) is error
    assert (failure.code, failure.method) == (code, METHOD)
    assert str(failure) == f"rpc error: code = {code} desc = no such"


async def test_an_error_after_a_message_counts(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.send(b"answer")
        call.end("Internal", "but")

    assert (await failure_of(tmp_path / "s", answer)).description == "but"


@pytest.mark.parametrize(
    ("status", "code"), [(404, "Unimplemented"), (503, "Unavailable"), (302, "Unknown")]
)
async def test_what_does_not_speak_grpc_is_named(tmp_path: Path, status: int, code: str) -> None:
    async def answer(call: Call) -> None:
        await call.request.answer(status, b"sorry")

    failure = await failure_of(tmp_path / "s", answer)

    assert failure.code == code
    assert failure.description.endswith(f"HTTP status code received from server: {status}")


async def test_an_answer_without_trailers_is_not_believed(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.request.answer(200, framed(b"answer"), counted=False)

    failure = await failure_of(tmp_path / "s", answer)

    assert str(failure) == (
        "rpc error: code = Internal desc = server closed the stream without sending trailers"
    )


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "the server sent no message"),
        (framed(b"a") + framed(b"b"), "the server sent more than one message"),
        (framed(b"answer")[:-1], "unexpected EOF"),
        (b"\x01\0\0\0\0", "the message is compressed, which was not asked for"),
    ],
)
async def test_half_an_answer_and_too_much_of_one_are_errors(
    tmp_path: Path, sent: bytes, words: str
) -> None:
    async def answer(call: Call) -> None:
        await call.send_raw(sent)
        call.end()

    failure = await failure_of(tmp_path / "s", answer)

    assert (failure.code, failure.description) == ("Internal", words)


async def test_a_message_that_is_too_large_is_not_waited_for(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.send_raw(b"\0" + (LARGEST_MESSAGE + 1).to_bytes(4, "big"))
        await call.hang()

    failure = await failure_of(tmp_path / "s", answer)

    assert failure.code == "ResourceExhausted"
    assert failure.description == "grpc: received message larger than max (16777217 vs. 16777216)"


@pytest.mark.virtual_time
async def test_a_call_that_takes_too_long_is_given_up_at_both_ends(tmp_path: Path) -> None:
    async with CriServer(tmp_path / "s", Version=Call.hang) as server:
        async with GrpcChannel(str(server.path)) as channel:
            with pytest.raises(RpcDeadlineExceeded, match="context deadline exceeded") as raised:
                await channel.call(METHOD, b"", timeout=120)
        code = await server.requests[0].reset_code

    assert isinstance(raised.value, DeadlineExceeded)
    assert code == h2.errors.ErrorCodes.CANCEL


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(tmp_path: Path) -> None:
    async with (
        CriServer(tmp_path / "s", Version=Call.hang) as server,
        GrpcChannel(str(server.path)) as channel,
    ):
        call = asyncio.create_task(channel.call(METHOD, b"", timeout=None))
        await server.until(lambda: server.calls)
        call.cancel()
        await asyncio.wait((call,))
        code = await server.requests[0].reset_code

    assert call.cancelled()
    assert code == h2.errors.ErrorCodes.CANCEL


async def test_where_nobody_listens_the_socket_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.sock"

    async with GrpcChannel(str(path)) as channel:
        with pytest.raises(RpcUnavailable) as raised:
            await channel.call(METHOD, b"", timeout=1)

    assert isinstance(raised.value, TransportError)
    assert raised.value.description == (
        f'connection error: desc = "transport: Error while dialing: dial unix {path}: '
        'connect: no such file or directory"'
    )


@pytest.mark.virtual_time
async def test_a_server_that_does_not_introduce_itself_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "mute.sock")
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(path)
        mute.listen()  # and takes nobody in, as a runtime that is stopped

        async with GrpcChannel(path) as channel:
            with pytest.raises(RpcUnavailable, match="i/o timeout"):
                async with channel.stream(METHOD, b""):
                    pass


async def test_a_connection_that_breaks_fails_the_call_and_the_next_opens_another(
    tmp_path: Path,
) -> None:
    async def answer(call: Call) -> None:
        if len(server.requests) == 1:
            await call.send_raw(framed(b"answer")[:-1])
            server.cut()
        else:
            await call.send(b"answer")
            call.end()

    async with CriServer(tmp_path / "s", Version=answer) as server:
        async with GrpcChannel(str(server.path)) as channel:
            with pytest.raises(RpcUnavailable, match="error reading from server"):
                await channel.call(METHOD, b"", timeout=None)
            again = await channel.call(METHOD, b"", timeout=None)
        connections = len(server.connections)

    assert again == b"answer"
    assert connections == 2


async def test_calls_share_one_connection(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await server.until(lambda: len(server.requests) == 3)
        await call.send(b"")
        call.end()

    async with CriServer(tmp_path / "s", Version=answer) as server:
        async with GrpcChannel(str(server.path)) as channel:
            await asyncio.gather(*(channel.call(METHOD, b"", timeout=None) for _ in range(3)))
        connections = len(server.connections)

    assert connections == 1


async def test_calls_that_a_connection_has_no_room_for_open_another(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await server.until(lambda: len(server.requests) == 2)
        await call.send(b"")
        call.end()

    server = CriServer(tmp_path / "s", Version=answer)
    server.settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 1}
    async with server:
        async with GrpcChannel(str(server.path)) as channel:
            await asyncio.gather(*(channel.call(METHOD, b"", timeout=None) for _ in range(2)))
            opened = server.open_connections
        await server.until(lambda: server.open_connections == 0)

    assert opened == 2


async def test_a_server_that_goes_away_is_asked_on_a_new_connection(tmp_path: Path) -> None:
    async def answer(call: Call) -> None:
        await call.send(b"answer")
        call.end()

    async with (
        CriServer(tmp_path / "s", Version=answer) as server,
        GrpcChannel(str(server.path)) as channel,
    ):
        await channel.call(METHOD, b"", timeout=None)
        server.connections[0].goaway(1)
        await server.connections[0].gone.wait()
        again = await channel.call(METHOD, b"", timeout=None)

    assert again == b"answer"


async def test_messages_of_a_stream_come_while_it_goes_on(tmp_path: Path) -> None:
    taken = asyncio.Event()

    async def answer(call: Call) -> None:
        await call.send(b"one")
        await taken.wait()
        await call.send_raw(framed(b"two") + framed(b"three"))
        call.end()

    seen = []
    async with (
        CriServer(tmp_path / "s", Version=answer) as server,
        GrpcChannel(str(server.path)) as channel,
        channel.stream(METHOD, b"") as messages,
    ):
        async for message in messages:
            seen.append(message)
            taken.set()

    assert seen == [b"one", b"two", b"three"]


async def test_leaving_a_stream_tells_the_server(tmp_path: Path) -> None:
    async with (
        CriServer(tmp_path / "s", Version=Call.hang) as server,
        GrpcChannel(str(server.path)) as channel,
    ):
        async with channel.stream(METHOD, b""):
            await server.until(lambda: server.calls)
        code = await server.requests[0].reset_code

    assert code == h2.errors.ErrorCodes.CANCEL


async def test_a_closed_channel_is_not_called(tmp_path: Path) -> None:
    channel = GrpcChannel(str(tmp_path / "s"))
    await channel.close()

    with pytest.raises(MisuseError, match="the channel is closed"):
        await channel.call(METHOD, b"", timeout=1)


async def test_a_channel_that_is_closed_while_it_connects_keeps_no_connection(
    tmp_path: Path,
) -> None:
    async with CriServer(tmp_path / "s") as server:
        channel = GrpcChannel(str(server.path))
        connecting = asyncio.create_task(channel.connect())
        await asyncio.sleep(0)
        await channel.close()

        with pytest.raises(MisuseError, match="the channel is closed"):
            await connecting


async def test_a_server_that_does_not_introduce_itself_is_hung_up_on(tmp_path: Path) -> None:
    left = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        left.set()
        writer.close()

    server = await asyncio.start_unix_server(say_nothing, tmp_path / "s")
    async with server, GrpcChannel(str(tmp_path / "s"), connect_timeout=0.01) as channel:
        with pytest.raises(RpcUnavailable, match="i/o timeout"):
            await channel.connect()
        await left.wait()  # the channel is still open


class SlowEnd:
    """A connection that does not get ready, and takes a while to close."""

    offered = True

    def __init__(self) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.aborted = asyncio.Event()

    def abort(self) -> None:
        self.aborted.set()

    async def closed(self) -> None:
        await asyncio.sleep(1)


@pytest.mark.virtual_time
async def test_whoever_is_cancelled_while_a_connection_is_given_up_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = SlowEnd()

    async def made(_: GrpcChannel) -> SlowEnd:
        return connection

    monkeypatch.setattr(GrpcChannel, "_new_connection", made)
    connecting = asyncio.create_task(GrpcChannel("/s").connect())
    await connection.aborted.wait()
    connecting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await connecting
