"""What goes on between a program and a pod: its logs, commands in it, its own streams, its ports.

Only asks and refuses; what a command is to the caller is ``remote_command``, a forwarded port
``port_forward``.

Upstream: client-go/kubernetes/typed/core/v1/pod_expansion.go, GetLogs;
    client-go/tools/remotecommand/websocket.go; client-go/tools/portforward
"""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from reflet.api.resources import PODS
from reflet.api.status import error_from_response
from reflet.client.rest import JSON, refusal
from reflet.errors import MisuseError, TransportError
from reflet.transport.connection import retry_after
from reflet.transport.interface import Request, Transport, Upgraded, Upgrading

if TYPE_CHECKING:
    from reflet.client.pod_tunnel import PodTunnel
    from reflet.client.port_forward import ForwardedPort, OnError
    from reflet.client.remote_command import (
        AttachedContainer,
        CompletedCommand,
        RemoteProcess,
        Streams,
    )

LOOPBACK: Final = "127.0.0.1"
LONGEST_LINE: Final = 2**20  # bytes; a longer line of a log comes in parts
SWITCHING: Final = 101
KEY_BYTES: Final = 16


class LogOptions(TypedDict, total=False):
    """Which part of which log, in the words of the API server's own options.

    - *namespace*: namespace of the pod; None is the connection's own
    - *container*: name of the container; needed in a pod that has several
    - *follow*: whether to go on until the container ends
    - *previous*: whether to read the log of the container before its last restart
    - *since_seconds*: only lines of the last so many seconds; None is all
    - *since_time*: only lines since that moment; None is all
    - *tail_lines*: only the last so many lines; None is all
    - *limit_bytes*: at most so many bytes; None is no limit
    - *timestamps*: whether each line begins with its time
    """

    namespace: str | None
    container: str | None
    follow: bool
    previous: bool
    since_seconds: int | None
    since_time: datetime | None
    tail_lines: int | None
    limit_bytes: int | None
    timestamps: bool


class ExecOptions(TypedDict, total=False):
    """Which container is meant, and which streams of it or of a command in it.

    - *namespace*: namespace of the pod; None is the connection's own
    - *container*: name of the container; needed in a pod that has several
    - *stdin*: whether there is a standard input; False unless given
    - *stdout*: whether to read the standard output; True unless given
    - *stderr*: whether to read the standard error; True unless given, and False with *tty*
    - *tty*: whether to ask for a terminal; False unless given
    """

    namespace: str | None
    container: str | None
    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool


class PodStreams:
    """Logs, commands, streams and ports of the pods that *transport* leads to.

    No *namespace* means ``self.namespace``; *container* is needed in a pod that has several.

    - *transport*: what sends the requests
    - *name*: name of the pod
    - *namespace*: namespace of the pod; None is the connection's own
    - *container*: name of the container; needed in a pod that has several
    - *command*: the program and its arguments
    """

    def __init__(self, transport: Transport, *, namespace: str) -> None:
        self._transport = transport
        self.namespace = namespace

    async def logs(self, name: str, **options: Unpack[LogOptions]) -> AsyncGenerator[str, None]:
        """Yield the log of a pod's container line by line; with *follow* until the container ends.

        Which part of it say *options*: see ``LogOptions``.  A broken connection is raised as
        TransportError and never taken for the end.  To stop before the end, and at once, use
        ``contextlib.aclosing``.
        """
        path = self._path(name, options.get("namespace"), "log")
        request = Request(path=path, query=_log_query(options))
        async with self._transport.stream(request) as stream:
            error = await refusal(stream, request, verb="get")
            if error is not None:
                raise error
            rest = b""
            while piece := await stream.read():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield line.decode(errors="replace")
                while len(rest) > LONGEST_LINE:
                    yield rest[:LONGEST_LINE].decode(errors="replace")
                    rest = rest[LONGEST_LINE:]
            if rest:
                yield rest.decode(errors="replace")

    def exec(
        self, name: str, command: Sequence[str], **options: Unpack[ExecOptions]
    ) -> AbstractAsyncContextManager[RemoteProcess]:
        """Run a command in a container, while the context is open; see ``RemoteProcess``.

        Raises the ApiError of a server that refuses.  What is wrong inside the node, a container
        that does not run for one, is raised by ``wait``.  There is a standard input with
        ``stdin=True`` alone, and a terminal, ``tty=True``, has no standard error.
        """
        from reflet.client.remote_command import RemoteProcess  # noqa: PLC0415 - start-up time

        words = tuple(("command", word) for word in command)
        return self._streams(RemoteProcess, self._request(name, "exec", options, words))

    def attach(
        self, name: str, **options: Unpack[ExecOptions]
    ) -> AbstractAsyncContextManager[AttachedContainer]:
        """Read what a container writes from now on, while the context is open.

        With ``stdin=True`` what is written to ``stdin`` is what the container reads, if its spec
        asks for ``stdin``; with ``stdinOnce`` it sees the end when the input is closed or the
        context is left.  Raises the ApiError of a server, or of a node, that refuses.
        """
        from reflet.client.remote_command import AttachedContainer  # noqa: PLC0415 - start-up time

        return self._streams(AttachedContainer, self._request(name, "attach", options))

    def _request(
        self,
        name: str,
        subresource: str,
        options: ExecOptions,
        more: tuple[tuple[str, str], ...] = (),
    ) -> Request:
        tty = options.get("tty", False)
        flags = {
            "stdin": options.get("stdin", False),
            "stdout": options.get("stdout", True),
            "stderr": options.get("stderr", True) and not tty,
            "tty": tty,
        }
        query = [*((key, "true") for key, value in flags.items() if value), *more]
        container = options.get("container")
        if container is not None:
            query.append(("container", container))
        path = self._path(name, options.get("namespace"), subresource)
        return Request(path=path, query=tuple(query))

    @asynccontextmanager
    async def _streams(self, kind: type[Streams], request: Request) -> AsyncIterator[Streams]:
        from reflet.client.remote_command import remote_streams  # noqa: PLC0415 - start-up time
        from reflet.transport.upgrades.channels import PROTOCOLS  # noqa: PLC0415 - the same

        async with (
            self._upgraded(request, PROTOCOLS) as (upgraded, protocol),
            remote_streams(kind, upgraded.line, protocol, path=request.path) as streams,
        ):
            yield streams

    async def run_in(
        self,
        name: str,
        command: Sequence[str],
        *,
        namespace: str | None = None,
        container: str | None = None,
        input: bytes = b"",  # noqa: A002 - subprocess.run's own word
    ) -> CompletedCommand:
        """Run a command in a container to its end, and give all that it wrote.

        As ``subprocess.run``: what the command returned is in the answer, and no error.

        - *input*: what the command reads from its standard input
        - *namespace*: namespace of the pod; None is the connection's own
        """
        context = self.exec(
            name, command, namespace=namespace, container=container, stdin=bool(input)
        )
        async with context as process:
            return await process.communicate(input)

    def port_forward(
        self,
        name: str,
        port: int,
        *,
        namespace: str | None = None,
        local_port: int = 0,
        address: str = LOOPBACK,
        on_error: OnError | None = None,
    ) -> AbstractAsyncContextManager[ForwardedPort]:
        """Listen at *address* while the context is open, and forward to a port of the pod.

        Local port 0 takes a free one.  Each connection that fails is reported to *on_error*, else
        logged, and reset; a connection to the server that was lost is made again for the next one.
        Needs an API server of 1.31 or later.

        - *port*: port of the pod
        - *local_port*: port on this machine; 0 takes a free one
        - *namespace*: namespace of the pod; None is the connection's own
        """
        return self._forward(
            self.tunnel(name, namespace=namespace), port, address, local_port, on_error
        )

    def tunnel(self, name: str, *, namespace: str | None = None) -> PodTunnel:
        """The way to all ports of a pod, for programs that listen themselves; see ``PodTunnel``.

        - *namespace*: namespace of the pod; None is the connection's own
        """
        from reflet.client.pod_tunnel import TUNNEL, PodTunnel  # noqa: PLC0415 - start-up time

        request = Request(path=self._path(name, namespace, "portforward"))

        @asynccontextmanager
        async def upgraded() -> AsyncIterator[Upgraded]:
            async with self._upgraded(request, (TUNNEL,)) as (line, _):
                yield line

        return PodTunnel(upgraded)

    @asynccontextmanager
    async def _forward(
        self,
        tunnel: PodTunnel,
        port: int,
        address: str,
        local_port: int,
        on_error: OnError | None,
    ) -> AsyncIterator[ForwardedPort]:
        from reflet.client.port_forward import PortForwarder  # noqa: PLC0415 - start-up time

        async with PortForwarder(tunnel, port, on_error=on_error) as forwarder:
            yield await forwarder.listen(address, local_port)

    def _path(self, name: str, namespace: str | None, subresource: str) -> str:
        return PODS.path(namespace=namespace or self.namespace, name=name, subresource=subresource)

    @asynccontextmanager
    async def _upgraded(
        self, request: Request, protocols: Sequence[str]
    ) -> AsyncIterator[tuple[Upgraded, str]]:
        """A WebSocket's line, and the protocol that was agreed on."""
        from reflet.transport.upgrades.websocket_frames import (  # noqa: PLC0415 - start-up time
            accept_key,
        )

        if not isinstance(self._transport, Upgrading):
            raise MisuseError(
                "commands and ports need a connection of Reflet's own: use reflet.connect() "
                "instead of another client's connection"
            )
        key = base64.b64encode(os.urandom(KEY_BYTES)).decode()
        asked = request.with_headers(
            (
                ("connection", "Upgrade"),
                ("upgrade", "websocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", key),
                ("sec-websocket-protocol", ", ".join(protocols)),
                ("accept", JSON),
            )
        )
        async with self._transport.upgrade(asked) as upgraded:
            answer = upgraded.response
            if answer.status != SWITCHING:
                wait = retry_after(answer.headers)
                raise error_from_response(
                    answer.status, wait, answer.body, verb="create", path=request.path
                )
            if answer.headers.get("sec-websocket-accept") != accept_key(key):
                raise TransportError(f"{request.path}: the server agreed to no WebSocket")
            agreed = answer.headers.get("sec-websocket-protocol", "")
            if agreed not in protocols:
                raise TransportError(
                    f"{request.path}: the server speaks none of {', '.join(protocols)}"
                )
            yield upgraded, agreed


def _log_query(options: LogOptions) -> tuple[tuple[str, str], ...]:
    flags = {name: options.get(name) for name in ("follow", "previous", "timestamps")}
    values = {
        "container": options.get("container"),
        "sinceSeconds": options.get("since_seconds"),
        "tailLines": options.get("tail_lines"),
        "limitBytes": options.get("limit_bytes"),
    }
    query = [(name, "true") for name, value in flags.items() if value]
    query += [(name, str(value)) for name, value in values.items() if value is not None]
    since = options.get("since_time")
    if since is not None:
        query.append(("sinceTime", since.astimezone(UTC).isoformat()))
    return tuple(query)
