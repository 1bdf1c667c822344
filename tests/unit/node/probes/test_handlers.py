from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from reflet.errors import RpcError
from reflet.node.probes.grpc_health import ServingStatus
from reflet.node.probes.handlers import (
    HandlerFailed,
    Handlers,
    Outcome,
    Target,
    answer_outcome,
    health_outcome,
)
from reflet.node.probes.http_probes import HttpAnswer
from reflet.node.probes.probe_spec import (
    ExecAction,
    GrpcAction,
    Handler,
    HttpGetAction,
    NoAction,
    SleepAction,
    TcpSocketAction,
)
from reflet.node.shim.protocol import Executed, ShimRefused
from tests.unit.node.pod_scenes import container, only, pod
from tests.unit.transport.scripted_servers import Http2Request, Http2Server, PlainHttp2Server

HERE = "127.0.0.1"


@dataclass
class Runner:
    """Runs no command; says *executed*, or raises it."""

    executed: Executed | Exception = field(default_factory=lambda: Executed(0))
    commands: list[tuple[str, tuple[str, ...], float]] = field(default_factory=list)

    async def execute(
        self, container: str, arguments: Sequence[str], *, timeout: float
    ) -> Executed:
        self.commands.append((container, tuple(arguments), timeout))
        if isinstance(self.executed, Exception):
            raise self.executed
        return self.executed


async def probed(
    handler: Handler, *, runner: Runner | None = None, seconds: float = 5, **fields: Any
) -> Outcome:
    actions = Handlers(runner or Runner(), lambda _: (HERE,))
    return await actions.probe(handler, Target(only(pod(container(**fields))), "main-0"), seconds)


# Commands


@pytest.mark.parametrize(
    ("executed", "outcome"),
    [
        (Executed(0, "fine"), Outcome(True, "fine")),
        (Executed(7, "broken\n"), Outcome(False, "broken\n")),
        (Executed(None, "so far"), Outcome(False, "command timed out after 5s")),
    ],
)
async def test_a_command_says_it_by_its_exit_code(executed: Executed, outcome: Outcome) -> None:
    assert await probed(ExecAction(("check",)), runner=Runner(executed)) == outcome


async def test_only_variables_that_the_pod_says_outright_get_into_a_command() -> None:
    runner = Runner()
    secret = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    command = ExecAction(("check", "$(A)-$(B)-$(C)-$$(A)"))

    await probed(command, runner=runner, env=[{"name": "A", "value": "1"}, secret], seconds=3)

    assert runner.commands == [("main-0", ("check", "1--$(C)-$(A)"), 3)]


async def test_a_container_that_does_not_run_says_nothing() -> None:
    runner = Runner(ShimRefused("container main does not run"))

    with pytest.raises(HandlerFailed, match="does not run") as caught:
        await probed(ExecAction(("check",)), runner=runner)

    assert caught.value.state == "unknown"


# Connections


async def test_a_port_that_is_listened_on_is_a_success() -> None:
    with socket.create_server((HERE, 0)) as listening:
        port = listening.getsockname()[1]
        by_number = await probed(TcpSocketAction(port))
        by_name = await probed(
            TcpSocketAction("web"), ports=[{"name": "web", "containerPort": port}]
        )

    assert (by_number, by_name) == (Outcome(True), Outcome(True))


async def test_a_port_that_nobody_listens_on_is_a_failure_in_the_kubelets_words() -> None:
    with socket.create_server((HERE, 0)) as listening:
        port = listening.getsockname()[1]

    outcome = await probed(TcpSocketAction(port, HERE))

    assert outcome == Outcome(False, f"dial tcp {HERE}:{port}: connect: connection refused")


async def test_a_port_that_has_no_number_says_nothing() -> None:
    for handler in (TcpSocketAction("web"), HttpGetAction("web"), GrpcAction("web")):
        with pytest.raises(HandlerFailed, match=r'^port "web" not found$'):
            await probed(handler)


@pytest.mark.parametrize("handler", [NoAction(), SleepAction(1)])
async def test_what_is_no_probe_says_nothing(handler: Handler) -> None:
    with pytest.raises(HandlerFailed, match="missing probe handler for main"):
        await probed(handler)


# Pages


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (199, Outcome(False, "HTTP probe failed with statuscode: 199")),
        (200, Outcome(True, "body")),
        (299, Outcome(True, "body")),
        (302, Outcome(True, "Probe terminated redirects, Response body: body", is_warning=True)),
        (399, Outcome(True, "Probe terminated redirects, Response body: body", is_warning=True)),
        (400, Outcome(False, "HTTP probe failed with statuscode: 400")),
        (500, Outcome(False, "HTTP probe failed with statuscode: 500")),
    ],
)
def test_a_page_says_it_by_its_status(status: int, outcome: Outcome) -> None:
    assert answer_outcome(HttpAnswer(status, "body")) == outcome


async def test_a_page_is_asked_for_at_the_pods_address() -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, HERE, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        outcome = await probed(HttpGetAction(port, path="/live"))

    assert outcome == Outcome(False, "HTTP probe failed with statuscode: 500")
    assert asked[0].startswith(b"GET /live HTTP/1.1\r\n")
    assert b"\r\nUser-Agent: kube-probe/1.36\r\n" in asked[0]


async def test_a_page_that_nobody_answers_for_is_a_failure_and_a_broken_one_says_nothing() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(break_off, HERE, 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(HandlerFailed, match="unexpected EOF") as caught:
            await probed(HttpGetAction(port))
    outcome = await probed(HttpGetAction(port))

    assert caught.value.state == "failure"
    assert (outcome.succeeded, "connection refused" in outcome.text) == (False, True)


# Services


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ServingStatus.SERVING, Outcome(True, "service healthy")),
        (
            ServingStatus.NOT_SERVING,
            Outcome(False, 'service unhealthy (responded with "NOT_SERVING")'),
        ),
        (9, Outcome(False, 'service unhealthy (responded with "9")')),
        (
            RpcError("Unimplemented", "unknown service"),
            Outcome(
                False,
                "error: this server does not implement the grpc health protocol "
                "(grpc.health.v1.Health): unknown service",
            ),
        ),
        (
            RpcError("DeadlineExceeded", "late"),
            Outcome(False, "timeout: health rpc did not complete within 1s"),
        ),
        (
            RpcError("NotFound", "no such service"),
            Outcome(
                False,
                "error: health rpc probe failed: rpc error: code = NotFound desc = no such service",
            ),
        ),
    ],
)
def test_a_service_says_it_by_its_status(answer: int | RpcError, outcome: Outcome) -> None:
    assert health_outcome(answer, 1) == outcome


async def test_a_service_that_nobody_offers_is_a_failure() -> None:
    with socket.create_server((HERE, 0)) as listening:
        port = listening.getsockname()[1]

    outcome = await probed(GrpcAction(port), seconds=2)

    assert outcome == Outcome(
        False,
        f'timeout: failed to connect service "{HERE}:{port}" within 2s: context deadline exceeded',
    )


async def test_a_server_that_speaks_something_else_is_not_connected_to() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n" * 10)
        writer.close()

    server = await asyncio.start_server(greet, HERE, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        outcome = await probed(GrpcAction(port))

    assert outcome.text.startswith(f'timeout: failed to connect service "{HERE}:{port}" within 5s')


@pytest.mark.virtual_time
async def test_a_server_that_only_accepts_connections_is_not_connected_to() -> None:
    with socket.create_server((HERE, 0)) as listening:
        port = listening.getsockname()[1]
        outcome = await probed(GrpcAction(port), seconds=30)

    assert outcome.text.startswith(f'timeout: failed to connect service "{HERE}:{port}" within 30s')


@pytest.mark.virtual_time
async def test_a_service_that_does_not_answer_is_late() -> None:
    async def think(_: Http2Request) -> None:
        await asyncio.Event().wait()

    async with PlainHttp2Server(think) as server:
        outcome = await probed(GrpcAction(server.port), seconds=30)

    assert outcome == Outcome(False, "timeout: health rpc did not complete within 30s")


async def test_a_service_over_tls_needs_no_certificate_that_anybody_knows() -> None:
    async def serve(request: Http2Request) -> None:
        request.head(200, [("content-type", "application/grpc")])
        await request.data(b"\0\0\0\0\2\x08\1")
        request.trailers([("grpc-status", "0")])

    async with Http2Server(serve) as server:
        outcome = await probed(GrpcAction(server.port, is_tls=True))

    assert outcome == Outcome(True, "service healthy")
