"""Files of volumes on disk, as the kubelet lays them out, and correct at every crash point.

What programs use:

- ``atomic_writer``: a folder kept equal to a volume's contents, swapped in one step
- ``pod_directories``: where a pod's volumes and containers live, and taking them down again
- ``parts``: a part of a volume, found or made without following a link: sub-paths and the folders
  that other mounts need inside a volume
- ``mounts``: what is mounted where, and a private place that never reaches a disk

How it is done:

- ``payload_paths``: which paths can be written, and the folders that follow from them
- ``ownership``: modes, users and the group of the volume
- ``version_folders``: one version of the files: written, read, and how two differ
- ``folders``: the only door to the file system, which never follows a link
- ``folder_locks``: one writer at a time
- ``tear_down``: taking a tree away without leaving it
- ``volume_errors``: what can go wrong

Knows no Kubernetes objects: contents come computed from ``resolution``.
"""
