"""What cannot be written, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reflet.errors import RefletError


class VolumeError(RefletError):
    """A volume could not be written, read or removed; what was there before still is."""


class VolumeRefused(VolumeError):
    """The contents themselves are at fault; the message is the kubelet's, where it has one."""


class InvalidPath(VolumeRefused):
    """A file's path cannot be written; nothing was touched."""


class VolumeBusy(VolumeError, TimeoutError):
    """Another writer has been at work in the folder for too long."""


@contextmanager
def in_folder(target: Path) -> Iterator[None]:
    """Turn the system's refusals into a VolumeError that names the file below *target*."""
    try:
        yield
    except OSError as error:
        where = target / str(error.filename) if error.filename else target
        reason = (error.strerror or str(error)).lower()
        raise VolumeError(f"{where}: {reason}") from error
