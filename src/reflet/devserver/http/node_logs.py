"""Logs of containers, from the node that has them.

Asks the node as a real API server asks a kubelet: by ``/containerLogs/NAMESPACE/POD/CONTAINER``.

Upstream: pkg/registry/core/pod/strategy.go, LogLocation
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, final
from urllib.parse import quote

import aiohttp

from reflet.apirules import refusals
from reflet.devserver.http.node_doors import node_address, node_token
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.state import LogRequest, State

CONNECT_TIMEOUT: Final = 5.0  # seconds
LONGEST_REASON: Final = 4096  # bytes of what a node says when it refuses

PODS: Final = "pods"


@final
class NodeLogs:
    """Gives logs in pieces, as the pod's node has them.  Is a ``LogSource``."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def __call__(self, request: LogRequest, /) -> AsyncIterator[bytes]:
        """Ask the node; an ApiError says why it has no log to give."""
        pod = self._state.storage.get(Key(PODS, request.namespace, request.pod))
        name = "" if pod is None else pod.object.get("spec", {}).get("nodeName") or ""
        address = node_address(self._state, name)
        session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT)
        )
        try:
            response = await session.get(
                f"http://{address}/containerLogs/{_path(request)}",
                params=_query(request),
                headers={"Authorization": f"Bearer {node_token(self._state)}"},
                allow_redirects=False,
            )
            if response.status != 200:
                reason = await response.content.read(LONGEST_REASON)
                raise refusals.by_code(
                    response.status,
                    reason="",
                    message=reason.decode(errors="replace").strip(),
                    retry_after=None,
                )
        except (aiohttp.ClientError, TimeoutError) as error:
            await session.close()
            raise refusals.unexpected(f"the node at {address} does not answer: {error}") from error
        except BaseException:
            await session.close()
            raise
        return _pieces(session, response)


def _path(request: LogRequest) -> str:
    parts = (request.namespace, request.pod, request.container)
    return "/".join(quote(part, safe="") for part in parts)


def _query(request: LogRequest) -> dict[str, str]:
    flags = {
        "follow": request.follow,
        "previous": request.previous,
        "timestamps": request.timestamps,
    }
    numbers = {
        "tailLines": request.tail_lines,
        "limitBytes": request.limit_bytes,
        "sinceSeconds": request.since_seconds,
    }
    query = {name: "true" for name, value in flags.items() if value}
    query.update({name: str(value) for name, value in numbers.items() if value is not None})
    if request.since_time:
        query["sinceTime"] = request.since_time
    return query


async def _pieces(
    session: aiohttp.ClientSession, response: aiohttp.ClientResponse
) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    finally:
        response.close()
        await session.close()
