"""Whether a pod's configuration shows anything that only its node knows.

Owns: which variables and files these are.  Must not know how a node is found.
"""

from collections.abc import Iterator
from typing import Final

from reflet.api.pods import Pod
from reflet.api.volumes import DownwardAPIVolumeFile
from reflet.resolution.places import containers_of

_HOST_FIELDS: Final = frozenset({"status.hostIP", "status.hostIPs"})


def shows_node(pod: Pod) -> bool:
    """Tell whether a variable or file shows the node's address, or a limit that it may set."""
    for placed in containers_of(pod.spec):
        for variable in placed.container.env:
            source = variable.value_from
            if source is None:
                continue
            field = "" if source.field_ref is None else source.field_ref.field_path
            if source.resource_field_ref is not None or field in _HOST_FIELDS:
                return True
    return any(item.resource_field_ref is not None for item in _downward_files(pod))


def _downward_files(pod: Pod) -> Iterator[DownwardAPIVolumeFile]:
    for volume in pod.spec.volumes:
        projected = () if volume.projected is None else volume.projected.sources
        for downward in (volume.downward_api, *(source.downward_api for source in projected)):
            yield from () if downward is None else downward.items
