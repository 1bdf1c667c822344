"""Logs, commands, streams and ports of pods, for programs without an event loop: waiting.

What each method does and promises is said in ``reflet.client.pod_streams`` and
``reflet.client.remote_command``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Unpack

from reflet.blocking.loop_thread import LoopThread
from reflet.client.pod_streams import LOOPBACK, ExecOptions, LogOptions, PodStreams

if TYPE_CHECKING:
    from reflet.client.port_forward import ForwardedPort, OnError
    from reflet.client.remote_command import (
        AttachedContainer,
        CompletedCommand,
        ProcessInput,
        ProcessOutput,
        RemoteProcess,
        RemoteStreams,
    )


class BlockingProcessInput:
    """``ProcessInput``, waiting."""

    def __init__(self, loop: LoopThread, stream: ProcessInput) -> None:
        self._loop = loop
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Send, and wait while the command does not read."""
        self._loop.run(self._stream.write(data))

    def close(self) -> None:
        """Let the command see the end."""
        self._loop.run(self._stream.close())


class BlockingProcessOutput:
    """``ProcessOutput``, waiting."""

    def __init__(self, loop: LoopThread, stream: ProcessOutput) -> None:
        self._loop = loop
        self._stream = stream

    def read(self) -> bytes:
        """The next piece; ``b""`` at the end."""
        return self._loop.run(self._stream.read())

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read():
            yield piece


class BlockingStreams:
    """``RemoteStreams``, waiting."""

    def __init__(self, loop: LoopThread, streams: RemoteStreams) -> None:
        self._loop = loop
        self._streams = streams
        self.stdin = BlockingProcessInput(loop, streams.stdin)
        self.stdout = BlockingProcessOutput(loop, streams.stdout)
        self.stderr = BlockingProcessOutput(loop, streams.stderr)

    def resize(self, *, width: int, height: int) -> None:
        """Set the terminal's size, in characters."""
        self._loop.run(self._streams.resize(width=width, height=height))


class BlockingAttachedContainer(BlockingStreams):
    """``AttachedContainer``, waiting.

    - *container*: what waits for the network
    """

    def __init__(self, loop: LoopThread, container: AttachedContainer) -> None:
        super().__init__(loop, container)
        self._container = container

    def wait(self) -> None:
        """Return when the node says that all is over."""
        self._loop.run(self._container.wait())


class BlockingProcess(BlockingStreams):
    """``RemoteProcess``, waiting.

    - *process*: what waits for the network
    """

    def __init__(self, loop: LoopThread, process: RemoteProcess) -> None:
        super().__init__(loop, process)
        self._process = process

    @property
    def returncode(self) -> int | None:
        """What the command returned, None until ``wait`` has returned."""
        return self._process.returncode

    def wait(self) -> int:
        """What the command returned."""
        return self._loop.run(self._process.wait())

    def communicate(self, input: bytes = b"") -> CompletedCommand:  # noqa: A002 - as subprocess
        """Send *input* and its end, read everything, and wait for the command's end."""
        return self._loop.run(self._process.communicate(input))


class BlockingPodStreams:
    """``PodStreams``, waiting."""

    def __init__(self, loop: LoopThread, streams: PodStreams) -> None:
        self._loop = loop
        self._streams = streams

    def logs(self, name: str, **options: Unpack[LogOptions]) -> Generator[str, None, None]:
        """Yield the log of a pod's container line by line; closing the generator stops it."""
        return self._loop.iterated(self._streams.logs(name, **options))

    @contextmanager
    def exec(
        self, name: str, command: Sequence[str], **options: Unpack[ExecOptions]
    ) -> Iterator[BlockingProcess]:
        """Run a command in a container, while the context is open."""
        with self._loop.entered(self._streams.exec(name, command, **options)) as process:
            yield BlockingProcess(self._loop, process)

    @contextmanager
    def attach(
        self, name: str, **options: Unpack[ExecOptions]
    ) -> Iterator[BlockingAttachedContainer]:
        """Read what a container writes from now on, while the context is open."""
        with self._loop.entered(self._streams.attach(name, **options)) as container:
            yield BlockingAttachedContainer(self._loop, container)

    def run_in(
        self,
        name: str,
        command: Sequence[str],
        *,
        namespace: str | None = None,
        container: str | None = None,
        input: bytes = b"",  # noqa: A002 - subprocess.run's own word
    ) -> CompletedCommand:
        """Run a command in a container to its end, and give all that it wrote."""
        return self._loop.run(
            self._streams.run_in(
                name, command, namespace=namespace, container=container, input=input
            )
        )

    def port_forward(
        self,
        name: str,
        port: int,
        *,
        namespace: str | None = None,
        local_port: int = 0,
        address: str = LOOPBACK,
        on_error: OnError | None = None,
    ) -> AbstractContextManager[ForwardedPort]:
        """Listen while the context is open; *on_error* is called in the connection's thread."""
        return self._loop.entered(
            self._streams.port_forward(
                name,
                port,
                namespace=namespace,
                local_port=local_port,
                address=address,
                on_error=on_error,
            )
        )
