"""What sockets are made to do that no program would: vanish, reset, fall silent."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import struct
from typing import Final

NO_LINGER: Final = struct.pack("ii", 1, 0)
SO_ATTACH_FILTER: Final = 26  # Linux; the socket module has no name for it
BPF_RETURN: Final = 0x06


def close(writer: asyncio.StreamWriter) -> None:
    # A TLS transport of asyncio that is closed twice can no longer be aborted.
    if not writer.is_closing():
        writer.close()


def deaf(writer: asyncio.StreamWriter) -> socket.socket | None:
    """The client's connection, from which the kernel drops whatever the client sends.

    As if the machine here were gone: else the kernel would go on to acknowledge, keep-alive
    probes too, and nobody could notice.  It stays open until this socket is closed.  None when the
    client has left already.
    """
    open_one = writer.get_extra_info("socket")
    if open_one is None or open_one.fileno() < 0:
        return None
    connection = socket.socket(fileno=os.dup(open_one.fileno()))
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RETURN, 0, 0, 0))
    program = struct.pack("HL", 1, ctypes.addressof(drop_all))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    return connection


def reset(writer: asyncio.StreamWriter) -> None:
    if writer.is_closing():
        return
    connection = writer.get_extra_info("socket")
    if connection is not None and connection.fileno() >= 0:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()
