"""The mirror's peers, as they are released: environments and a Go program, in a cache folder.

Owns: making them once, at the versions that ``mirror_peers/requirements`` and
``go/informer/go.mod`` pin, and the words when that does not work.  Must not know what the peers
do.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from benchmarks.go_programs import (
    Environment,
    complaint_of,
    go_program,
    peer_folder,
    run_quietly,
)

HERE: Final = Path(__file__).parent
REQUIREMENTS: Final = HERE / "mirror_peers" / "requirements"

CLIENT_GO: Final = "client-go"


def environment(peer: str) -> Environment:
    """The environment of one peer, made now if there is none."""
    try:
        if peer == CLIENT_GO:
            return go_program("informer", CLIENT_GO, version_of="k8s.io/client-go")
        return _python(peer)
    except subprocess.CalledProcessError as error:
        return Environment(missing=f"cannot be installed: {complaint_of(error)}")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Environment(missing=f"cannot be installed: {error}")


def _python(peer: str) -> Environment:
    requirements = (REQUIREMENTS / f"{peer}.txt").read_text()
    wanted = f"{sys.version}\n{requirements}"
    folder = peer_folder(peer)
    installed = folder / "installed.txt"
    python = folder / "bin" / "python"
    if not installed.is_file() or installed.read_text() != wanted:
        print(f"mirror: installing {peer} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run_quietly(
            *pip, "--only-binary=:all:", "--no-deps", "-r", str(REQUIREMENTS / f"{peer}.txt")
        )
        installed.write_text(wanted)  # last: what is half made has none
    versions = dict(line.split("==") for line in requirements.split())
    return Environment((str(python),), versions[peer])
