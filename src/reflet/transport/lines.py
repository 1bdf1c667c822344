"""Cuts a byte stream into runs of whole lines.

Owns: the boundary between chunks and lines, and the longest line that is accepted.  Lines are
handed on in runs, as many as have arrived, because whoever decodes them does it much faster by
the run than one by one.  Must not know what a line means.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from reflet.errors import TransportError
from reflet.transport.failures import ConnectionReplaced
from reflet.transport.interface import Stream

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes.  etcd refuses objects above 1.5 MB, so a longer line is not a watch event."""


async def line_runs(stream: Stream, *, longest: int = LONGEST_LINE) -> AsyncIterator[bytes]:
    """Yield buffers that each hold one or more whole lines, the last newline included.

    Raises TransportError when a line is longer than *longest* or the stream ends inside a line:
    half an event must never be taken for a whole one.  A stream whose connection is replaced ends
    after its last whole line: whoever reads asks for what follows anyway.
    """
    parts: list[bytes] = []
    waiting = 0  # bytes in parts, a line that is not complete yet
    try:
        while chunk := await stream.read():
            end = chunk.rfind(b"\n") + 1
            if end:
                run = chunk if end == len(chunk) else chunk[:end]
                if parts:
                    parts.append(run)
                    run = b"".join(parts)
                    parts = []
                    waiting = 0
                if len(run) > longest and max(map(len, run.split(b"\n"))) > longest:
                    raise TransportError(f"the server sent a line of more than {longest} bytes")
                yield run
                del run  # a silent stream must not keep its last event
            if end != len(chunk):
                parts.append(chunk[end:] if end else chunk)
                waiting += len(chunk) - end
                if waiting > longest:
                    raise TransportError(f"the server sent a line of more than {longest} bytes")
            del chunk
        if parts:
            raise TransportError(f"the stream ended inside a line, after {waiting} bytes of it")
    except ConnectionReplaced:
        return
