"""What the macOS kernel says about itself, by ``sysctl``.

Upstream: xnu/bsd/sys/sysctl.h
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Final

_TRIES: Final = 8  # between asking for the size and for the answer, there may be more to say


def sysctl(names: Sequence[int]) -> bytes:
    """The answer to a question by numbers; OSError where there is none."""
    library = ctypes.CDLL(None, use_errno=True)
    question = (ctypes.c_int * len(names))(*names)
    for _ in range(_TRIES):
        size = ctypes.c_size_t(0)
        if library.sysctl(question, len(names), None, ctypes.byref(size), None, 0):
            raise _error()
        size.value += size.value // 8
        room = ctypes.create_string_buffer(max(1, size.value))
        if not library.sysctl(question, len(names), room, ctypes.byref(size), None, 0):
            return room.raw[: size.value]
    raise _error()


def sysctl_by_name(name: str) -> bytes:
    """The answer to a question by name; OSError where there is none."""
    library = ctypes.CDLL(None, use_errno=True)
    size = ctypes.c_size_t(0)
    if library.sysctlbyname(name.encode(), None, ctypes.byref(size), None, 0):
        raise _error()
    room = ctypes.create_string_buffer(max(1, size.value))
    if library.sysctlbyname(name.encode(), room, ctypes.byref(size), None, 0):
        raise _error()
    return room.raw[: size.value]


def sysctl_number(name: str) -> int:
    """The answer to a question by name, a number of whatever size."""
    return int.from_bytes(sysctl_by_name(name), "little", signed=True)


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
