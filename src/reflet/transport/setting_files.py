"""Reads the small files that settings name, and says in one line why one cannot be read.

Owns: the words for each way a read fails.  Must not know what is inside the files.
"""

from __future__ import annotations

from pathlib import Path

from reflet.errors import ConfigurationError


def read_setting_file(path: Path, setting: str) -> bytes:
    """The bytes of *path*; ConfigurationError begins with *setting*, which names the file."""
    # One open, no stat before it: the file may be a pipe, as in --kubeconfig <(command).
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{setting}: {why_unreadable(error)}") from error


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
