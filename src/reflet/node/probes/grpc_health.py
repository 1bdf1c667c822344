"""The question of a gRPC probe, ``grpc.health.v1.Health/Check``, and its two messages.

Upstream: pkg/probe/grpc/grpc.go, Probe; google.golang.org/grpc/health/grpc_health_v1
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

from reflet.cri.wire import CriMessage, decode, encode
from reflet.errors import DecodeError, RpcError
from reflet.transport.http.grpc_channel import GrpcChannel

METHOD: Final = "/grpc.health.v1.Health/Check"


class ServingStatus(IntEnum):
    """How a service is; a newer one may say another number."""

    UNKNOWN = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


class HealthCheckRequest(CriMessage, frozen=True, kw_only=True):
    """Which service; none is all of the server."""

    service: Annotated[str, 1] = ""


class HealthCheckResponse(CriMessage, frozen=True, kw_only=True):
    """What it says of itself."""

    status: Annotated[ServingStatus, 1] = ServingStatus.UNKNOWN


async def check_health(channel: GrpcChannel, service: str) -> int:
    """Ask how *service* is, for as long as it takes; raises RpcError."""
    request = encode(HealthCheckRequest(service=service))
    answer = await channel.call(METHOD, request, timeout=None)
    try:
        return decode(HealthCheckResponse, answer).status
    except DecodeError as error:
        text = f"grpc: failed to unmarshal the received message: {error}"
        raise RpcError("Internal", text, method=METHOD) from error
