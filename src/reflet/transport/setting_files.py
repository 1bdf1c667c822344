"""Reads the small files that settings name, and says in one line why one cannot be read.

``file_identity`` tells when a file may hold something else: tokens and certificates are replaced
under a running program (``auth.credentials.TokenFile``, ``http.cert_rotation``).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, TypeAlias

from reflet.errors import ConfigurationError

# Tokens and certificates are replaced minutes or days before they end, so a second late is early
# enough, and a watcher that opens a thousand streams does not look at a file a thousand times.
LOOK_EVERY: Final = 1.0

FileIdentity: TypeAlias = tuple[int, ...]
"""What differs when a file may hold something else."""


def read_setting_file(path: Path, setting: str) -> bytes:
    """The bytes of *path*; ConfigurationError begins with *setting*, which names the file."""
    # One open, no stat before it: the file may be a pipe, as in --kubeconfig <(command).
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{setting}: {why_unreadable(error)}") from error


def file_identity(path: Path) -> FileIdentity:
    """The identity of *path* now; raises OSError."""
    # The inode tells apart two files of one size and moment: the kubelet swaps a symbolic link.
    found = os.stat(path)  # noqa: PTH116 - the same call without another object
    if not stat.S_ISREG(found.st_mode):
        return (found.st_dev, found.st_ino)  # a pipe holds its text only once
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def why_unreadable(error: OSError) -> str:
    """What *error* means for the person who named the file."""
    match error:
        case FileNotFoundError():
            return "no such file"
        case PermissionError():
            return "permission denied: this user may not read it"
        case IsADirectoryError():
            return "is a directory, not a file"
        case NotADirectoryError():
            return "no such file: a part of its path is not a directory"
        case _:
            return (error.strerror or type(error).__name__).lower()
