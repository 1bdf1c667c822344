"""The contents of a pod's volumes, as far as they are known here.

Owns: which volumes are meant, and what becomes of files that nobody can know yet.  Must not
know how they are shown or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from reflet.resolution.file_contents import FileContent, VolumeContents
from reflet.resolution.origins import TokenOrigin
from reflet.resolution.volume_contents import configuration_volumes

if TYPE_CHECKING:
    from reflet.cli.pod_gathering import PodInHand


def resolve_volumes(hand: PodInHand, names: Sequence[str] = ()) -> list[VolumeContents]:
    """Return the contents of the named volumes, or of all that hold configuration.

    Tokens that were not asked for are files that are not known.  Raises ConfigurationError for
    a volume that the pod does not have.
    """
    chosen = dict.fromkeys(names) or configuration_volumes(hand.pod)
    return [_with_honest_tokens(hand.volume(name)) for name in chosen]


def writable(contents: VolumeContents) -> tuple[VolumeContents, tuple[str, ...]]:
    """Return what can be written, and the paths of files that are not known and left out."""
    unknown = tuple(path for path, file in contents.files.items() if not file.known)
    if not unknown:
        return contents, ()
    known = {path: file for path, file in contents.files.items() if file.known}
    return structs.replace(contents, files=known), unknown


def _with_honest_tokens(contents: VolumeContents) -> VolumeContents:
    files = {path: _honest(file) for path, file in contents.files.items()}
    return structs.replace(contents, files=files)


def _honest(file: FileContent) -> FileContent:
    if isinstance(file.origin, TokenOrigin) and not file.data:
        return structs.replace(file, known=False)
    return file
