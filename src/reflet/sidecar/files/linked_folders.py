"""The layout of links: all files of a folder are swapped at once behind ``..data``.

The kubelet's own layout, by the writer of volumes: whoever reads through ``..data`` sees the files
of one moment together, those of several objects too.  Plain files of the other layout, of ours,
make room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from posixpath import basename, dirname

from reflet.resolution.environment.variables import exact_bytes
from reflet.resolution.origins import ConfigMapOrigin
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.runtime.clock import Clock
from reflet.sidecar.file_owners import OwnerTable
from reflet.sidecar.files.folder_writes import opened, usual_modes
from reflet.sidecar.files.plain_files import PlainFiles
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import LastGood, Remembered
from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter, remove_versions


class LinkedFolders:
    """Writes whole folders.  Blocks; used by one thread at a time."""

    def __init__(
        self, settings: SidecarSettings, table: OwnerTable, plain: PlainFiles, *, clock: Clock
    ) -> None:
        self._table = table
        self._plain = plain
        self._clock = clock
        file_mode, self._folder_mode = usual_modes()
        mode = settings.default_file_mode
        self._mode = file_mode if mode is None else mode

    def write(self, folder: str, old: Mapping[str, Collection[str]]) -> bool:
        """Make a folder what the table wants there; whether that was something new.

        *old* are files of ours, by path, and their digests: plain ones among them are removed.
        Raises VolumeError.
        """
        for path, digests in old.items():
            if dirname(path) == folder and digests and self._plain.is_there(path):
                self._plain.remove(path, digests=digests)
        writer = AtomicWriter(Path(folder), mode=self._folder_mode, clock=self._clock)
        return writer.write(VolumeContents(volume="sidecar", files=dict(self._files(folder))))

    def _files(self, folder: str) -> Iterator[tuple[str, FileContent]]:
        for path in self._table:
            claim = self._table.wanted(path)
            if claim is None or dirname(path) != folder:
                continue
            match claim.content:
                case str() as text:
                    data = exact_bytes(text)
                case bytes() as data:
                    pass
                case LastGood():
                    data = _read(path) or b""
                case Remembered():
                    there = _read(path)
                    if there is None:
                        continue
                    data = there
            owner = claim.owner
            origin = ConfigMapOrigin(namespace=owner.namespace, name=owner.name, key=basename(path))
            yield basename(path), FileContent(data=data, mode=self._mode, origin=origin)


def unlink_folder(folder: str) -> None:
    """Take away what this layout left in a folder whose files are plain now."""
    with suppress(OSError), opened(folder) as here, folders.opened_below(here, "") as readable:
        remove_versions(readable)


def folders_of(paths: Collection[str]) -> Mapping[str, list[str]]:
    """The paths by their folder."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[dirname(path)].append(path)
    return found


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
