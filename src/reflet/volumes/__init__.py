"""Files of volumes on disk, as the kubelet lays them out, and correct at every crash point.

What programs use:

- ``atomic_writer``: a folder kept equal to a volume's contents, swapped in one step
- ``pod_directories``: where a pod's volumes and containers live, and taking them down again
- ``parts``: a part of a volume, found or made without following a link: sub-paths and the folders
  that other mounts need inside a volume
- ``mounts``: what is mounted where, and a private place that never reaches a disk

How it is done:

- ``payload_paths``: which paths can be written, and the folders that follow from them
- ``case_folding``: disks that do not tell upper from lower case
- ``ownership``: modes, users and the group of the volume
- ``version_folders``: one version of the files: written, read, and how two differ
- ``folders``: the only door to the file system, which never follows a link
- ``folder_locks``: one writer at a time
- ``tear_down``: taking a tree away without leaving it
- ``volume_errors``: what can go wrong

Knows no Kubernetes objects: contents come computed from ``resolution``.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.volumes.atomic_writer import AtomicWriter, current_version
    from reflet.volumes.mounts import NoMemoryFolder, memory_backed_root
    from reflet.volumes.pod_directories import PodDirectories
    from reflet.volumes.tear_down import Kept
    from reflet.volumes.volume_errors import InvalidPath, VolumeBusy, VolumeError, VolumeRefused
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.volumes.atomic_writer": "AtomicWriter current_version",
        "reflet.volumes.mounts": "NoMemoryFolder memory_backed_root",
        "reflet.volumes.pod_directories": "PodDirectories",
        "reflet.volumes.tear_down": "Kept",
        "reflet.volumes.volume_errors": "InvalidPath VolumeBusy VolumeError VolumeRefused",
    })

__all__ = [
    "AtomicWriter", "InvalidPath", "Kept", "NoMemoryFolder", "PodDirectories", "VolumeBusy",
    "VolumeError", "VolumeRefused", "current_version", "memory_backed_root",
]
