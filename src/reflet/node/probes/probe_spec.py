"""The probes and lifecycle hooks of a container, read from what its pod says.

Only reads; what cannot be read becomes a handler that says so when it is run.  The API server's
defaults for what a probe leaves out are applied here, too: a pod from a file has seen no server.

Upstream: pkg/apis/core/v1/defaults.go, SetDefaults_Probe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from reflet.api.core.containers import Container

DEFAULT_PERIOD: Final = 10  # seconds
DEFAULT_TIMEOUT: Final = 1  # seconds
DEFAULT_SUCCESSES: Final = 1
DEFAULT_FAILURES: Final = 3


class ProbeKind(StrEnum):
    """What a probe is for, in the word with which its events begin."""

    STARTUP = "Startup"
    READINESS = "Readiness"
    LIVENESS = "Liveness"


@dataclass(frozen=True, slots=True)
class ExecAction:
    """Runs a command inside the container; its arguments are not shown."""

    command: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class HttpGetAction:
    """Asks for a page; *port* may be the name of a port of the container."""

    port: int | str
    host: str = ""
    path: str = "/"
    scheme: str = "http"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class TcpSocketAction:
    """Opens a connection and closes it."""

    port: int | str
    host: str = ""


@dataclass(frozen=True, slots=True)
class GrpcAction:
    """Asks a service of grpc.health.v1 how it is."""

    port: int | str
    service: str = ""
    is_tls: bool = False


@dataclass(frozen=True, slots=True)
class SleepAction:
    """Waits; for hooks only."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NoAction:
    """There is no handler that could be run."""


Handler = ExecAction | HttpGetAction | TcpSocketAction | GrpcAction | SleepAction | NoAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One probe, with nothing left out.  *grace* replaces the pod's grace period."""

    handler: Handler
    initial_delay: float = 0
    period: float = DEFAULT_PERIOD
    timeout: float = DEFAULT_TIMEOUT
    successes: int = DEFAULT_SUCCESSES
    failures: int = DEFAULT_FAILURES
    grace: float | None = None


def probe_of(container: Container, kind: ProbeKind) -> Probe | None:
    """A container's probe of this kind, None when it has none."""
    match kind:
        case ProbeKind.STARTUP:
            said = container.startup_probe
        case ProbeKind.READINESS:
            said = container.readiness_probe
        case ProbeKind.LIVENESS:
            said = container.liveness_probe
    if not said:
        return None
    grace = _number(said, "terminationGracePeriodSeconds", 0)
    return Probe(
        handler=handler_of(said),
        initial_delay=_number(said, "initialDelaySeconds", 0),
        period=_number(said, "periodSeconds", DEFAULT_PERIOD),
        timeout=_number(said, "timeoutSeconds", DEFAULT_TIMEOUT),
        # More than one success is for readiness alone; the server refuses it elsewhere.
        successes=_number(said, "successThreshold", 1) if kind is ProbeKind.READINESS else 1,
        failures=_number(said, "failureThreshold", DEFAULT_FAILURES),
        grace=None if kind is ProbeKind.READINESS or not grace else grace,
    )


def post_start_of(container: Container) -> Handler | None:
    """What is run right after the container's start, None for nothing."""
    return _hook(container, "postStart")


def pre_stop_of(container: Container) -> Handler | None:
    """What is run before the container is told to end, None for nothing."""
    return _hook(container, "preStop")


def handler_of(said: Mapping[str, Any]) -> Handler:
    """The one handler of a probe or a hook, looked for in the kubelet's order."""
    if (action := _part(said, "exec")) is not None:
        command = action.get("command") or ()
        return ExecAction(tuple(map(str, command))) if command else NoAction()
    if (action := _part(said, "httpGet")) is not None:
        return HttpGetAction(
            port=_port(action),
            host=str(action.get("host") or ""),
            path=str(action.get("path") or "/"),
            scheme=str(action.get("scheme") or "HTTP").lower(),
            headers=tuple(
                (str(each.get("name", "")), str(each.get("value", "")))
                for each in action.get("httpHeaders") or ()
                if isinstance(each, Mapping)
            ),
        )
    if (action := _part(said, "tcpSocket")) is not None:
        return TcpSocketAction(port=_port(action), host=str(action.get("host") or ""))
    if (action := _part(said, "grpc")) is not None:
        is_tls = str(action.get("mode") or "").upper() == "TLS"
        return GrpcAction(_port(action), str(action.get("service") or ""), is_tls)
    if (action := _part(said, "sleep")) is not None:
        return SleepAction(_number(action, "seconds", 0))
    return NoAction()


def port_number(port: int | str, container: Container) -> int | str:
    """The number of a port, or in the kubelet's words why it has none."""
    if isinstance(port, str):
        named = (each.container_port for each in container.ports if each.name == port)
        found = next(named, None)
        if found is None:
            return f'port "{port}" not found'
        port = found
    return port if 0 < port < 65536 else f"invalid port number: {port}"


def _hook(container: Container, name: str) -> Handler | None:
    said = _part(container.lifecycle, name)
    return None if said is None else handler_of(said)


def _part(said: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    part = said.get(name)
    return part if isinstance(part, Mapping) else None


def _port(action: Mapping[str, Any]) -> int | str:
    port = action.get("port", 0)
    return port if isinstance(port, int | str) else 0


def _number(said: Mapping[str, Any], name: str, default: int) -> int:
    """A whole number that is not negative; as for the API, 0 is the same as nothing."""
    number = said.get(name)
    return number if isinstance(number, int) and number > 0 else default
