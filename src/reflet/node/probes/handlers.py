"""Running one handler of a probe or hook: exec, httpGet, tcpSocket or grpc.

From a handler to its outcome, in the kubelet's words and within the time that it may take.  How
often a probe is run is ``prober``.

Upstream: pkg/kubelet/prober/prober.go, runProbe; pkg/probe/exec, pkg/probe/http, pkg/probe/tcp,
pkg/probe/grpc.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, assert_never

from reflet.api.core.containers import Container
from reflet.errors import RefletError, RpcError
from reflet.gotext.durations import go_duration
from reflet.gotext.urls import join_host_port
from reflet.node.probes import http_probes
from reflet.node.probes.grpc_health import ServingStatus, check_health
from reflet.node.probes.http_probes import BrokenAnswer, HttpAnswer, NoAnswer, http_request
from reflet.node.probes.probe_spec import (
    ExecAction,
    GrpcAction,
    Handler,
    HttpGetAction,
    NoAction,
    SleepAction,
    TcpSocketAction,
    port_number,
)
from reflet.node.shim.protocol import Executed
from reflet.resolution.environment.expansion import expand
from reflet.transport.http.grpc_channel import GrpcChannel

SPOKEN_VERSION: Final = "1.36"  # of the kubelet that servers are told of, which some look for
PROBE_AGENT: Final = f"kube-probe/{SPOKEN_VERSION}"
HOOK_AGENT: Final = f"kube-lifecycle/{SPOKEN_VERSION}"
LARGEST_HEALTH: Final = 4 * 1024 * 1024  # bytes of an answer; gRPC's own limit, for two


class HandlerFailed(RefletError):
    """A handler could not be run, so that nothing is known; *state* is the kubelet's word."""

    def __init__(self, message: str, *, state: str = "unknown") -> None:
        super().__init__(message)
        self.state = state


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a handler; a success with *is_warning* is worth an event."""

    succeeded: bool
    text: str = field(default="", repr=False)
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One life of a container, by its id, and the pod that it is of."""

    container: Container
    life: str
    uid: str = ""


class CommandRunner(Protocol):
    """Whoever can run a command inside a container."""

    async def execute(
        self,
        container: str,
        arguments: Sequence[str],
        *,
        timeout: float,
    ) -> Executed:
        """Run it, and kill it when its time is over."""
        ...


class HandlerRunner(Protocol):
    """Whoever can run the handlers of probes and hooks."""

    async def probe(self, handler: Handler, target: Target, seconds: float, /) -> Outcome:
        """Run a probe's handler; raises HandlerFailed when nothing can be said."""
        ...

    async def execute(self, action: ExecAction, target: Target, seconds: float, /) -> Executed:
        """Run a hook's command."""
        ...

    async def get(self, action: HttpGetAction, target: Target, /) -> HttpAnswer:
        """Ask for a hook's page; raises NoAnswer."""
        ...


class Handlers:
    """Runs handlers for the containers of *runtime*; *addresses* are those of the pod of a uid."""

    def __init__(self, runtime: CommandRunner, addresses: Callable[[str], tuple[str, ...]]) -> None:
        self._runtime = runtime
        self._addresses = addresses

    async def probe(self, handler: Handler, target: Target, seconds: float, /) -> Outcome:
        """Run a probe's handler; raises HandlerFailed when nothing can be said."""
        match handler:
            case ExecAction():
                # Only what the pod says outright is put in: a Secret must not get into arguments.
                known = {each.name: each.value for each in target.container.env}
                command = tuple(expand(part, known.get) for part in handler.command)
                return executed_outcome(
                    await self.execute(ExecAction(command), target, seconds), seconds
                )
            case HttpGetAction():
                return await self._probe_page(handler, target, seconds)
            case TcpSocketAction():
                place = self._place(handler.host, handler.port, target)
                return await _probe_connection(place, seconds)
            case GrpcAction():
                place = self._place("", handler.port, target)
                return await _probe_health(handler, place, seconds)
            case SleepAction() | NoAction():
                raise HandlerFailed(f"missing probe handler for {target.container.name}")
            case _:
                assert_never(handler)

    async def execute(self, action: ExecAction, target: Target, seconds: float, /) -> Executed:
        """Run a command inside a container."""
        try:
            return await self._runtime.execute(target.life, action.command, timeout=seconds)
        except RefletError as error:
            raise HandlerFailed(str(error)) from error

    async def get(self, action: HttpGetAction, target: Target, /) -> HttpAnswer:
        """Ask for a hook's page for as long as it takes."""
        place = self._place(action.host, action.port, target)
        request = http_request(action.scheme, place, action.path, action.headers, agent=HOOK_AGENT)
        return await http_probes.get(request, seconds=None)

    async def _probe_page(self, action: HttpGetAction, target: Target, seconds: float) -> Outcome:
        place = self._place(action.host, action.port, target)
        request = http_request(action.scheme, place, action.path, action.headers, agent=PROBE_AGENT)
        try:
            answer = await http_probes.get(request, seconds=seconds)
        except NoAnswer as error:
            return Outcome(False, str(error))
        except BrokenAnswer as error:
            raise HandlerFailed(str(error), state="failure") from error
        return answer_outcome(answer)

    def _place(self, host: str, port: int | str, target: Target) -> tuple[str, int]:
        number = port_number(port, target.container)
        if isinstance(number, str):
            raise HandlerFailed(number)
        return host or next(iter(self._addresses(target.uid)), ""), number


def executed_outcome(executed: Executed, seconds: float) -> Outcome:
    """What a command says about its container."""
    if executed.exit_code is None:
        # The kubelet names the command here; what is in it is nobody else's business.
        return Outcome(False, f"command timed out after {go_duration(seconds)}")
    return Outcome(executed.exit_code == 0, executed.output)


def answer_outcome(answer: HttpAnswer) -> Outcome:
    """What a page says about its container."""
    if 200 <= answer.status < 300:
        return Outcome(True, answer.body)
    if 300 <= answer.status < 400:
        said = f"Probe terminated redirects, Response body: {answer.body}"
        return Outcome(True, said, is_warning=True)
    return Outcome(False, f"HTTP probe failed with statuscode: {answer.status}")


def health_outcome(answer: int | RpcError, seconds: float) -> Outcome:
    """What a health service says about its container, by its status or by an error."""
    if not isinstance(answer, RpcError):
        if answer == ServingStatus.SERVING:
            return Outcome(True, "service healthy")
        status = answer.name if isinstance(answer, ServingStatus) else answer
        return Outcome(False, f'service unhealthy (responded with "{status}")')
    match answer.code:
        case "Unimplemented":
            return Outcome(
                False,
                "error: this server does not implement the grpc health protocol "
                f"(grpc.health.v1.Health): {answer.description}",
            )
        case "DeadlineExceeded":
            return _late_health(seconds)
        case _:
            return Outcome(False, f"error: health rpc probe failed: {answer}")


async def _probe_connection(place: tuple[str, int], seconds: float) -> Outcome:
    host, port = place
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        return Outcome(False, http_probes.dial_failure(host, port, error))
    writer.transport.abort()
    return Outcome(True)


async def _probe_health(action: GrpcAction, place: tuple[str, int], seconds: float) -> Outcome:
    channel = GrpcChannel(
        place,
        agent=PROBE_AGENT,
        tls=_unverified_http2() if action.is_tls else None,
        connect_timeout=None,  # all of the probe's time
        largest_message=LARGEST_HEALTH,
    )
    is_connected = False
    answer: int | RpcError
    try:
        async with asyncio.timeout(seconds), channel:
            await channel.connect()
            is_connected = True
            answer = await check_health(channel, action.service)
    except (TimeoutError, RpcError) as error:
        if not is_connected:
            # A client of gRPC dials again until its time is over; the outcome is told at once.
            where = f'"{join_host_port(*place)}"'
            said = f"within {go_duration(seconds)}: context deadline exceeded"
            return Outcome(False, f"timeout: failed to connect service {where} {said}")
        if isinstance(error, TimeoutError):
            return _late_health(seconds)
        answer = error
    return health_outcome(answer, seconds)


def _late_health(seconds: float) -> Outcome:
    return Outcome(False, f"timeout: health rpc did not complete within {go_duration(seconds)}")


@functools.cache
def _unverified_http2() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context
