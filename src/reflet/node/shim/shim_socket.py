"""Where the shim of an agent listens: in the agent's folder, unless its path is too long.

A socket's path has about a hundred bytes, and macOS alone makes temporary folders of fifty.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from reflet.node.shim.protocol import SOCKET, ShimUnavailable
from reflet.runtime.platforms import HERE
from reflet.volumes import folders
from reflet.volumes.mounts import is_private

SHORT: Final = Path("/tmp")  # noqa: S108 - the folder below it has to be ours and private


def socket_path(folder: Path, *, short: Path = SHORT, longest: int = HERE.socket_path) -> Path:
    """The socket of the agent in *folder*, in a folder that is there and that others keep out of.

    Where the path has more than *longest* bytes, it lies in a folder of the user's below *short*,
    under a name made from the agent's.  Raises ShimUnavailable when somebody else made that.
    """
    path = folder / SOCKET
    if len(os.fsencode(path)) <= longest:
        return path
    user = os.geteuid()
    own = short / f"reflet-{user}"
    folders.make_path(own)
    if not is_private(own, user):
        raise ShimUnavailable(f"{own} is not a private folder of user {user}: remove it")
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return own / f"{name}.sock"
