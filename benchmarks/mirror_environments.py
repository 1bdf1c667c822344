"""The peers, as they are released: environments and a Go program, made in a cache folder.

Owns: making them once, at the versions that ``mirror_peers/requirements`` and
``go/informer/go.mod`` pin, and the words when that does not work.  Must not know what the peers
do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
REQUIREMENTS: Final = HERE / "mirror_peers" / "requirements"
GO_SOURCES: Final = HERE / "go" / "informer"
PATIENCE: Final = 600.0  # seconds to install, or to compile all of client-go

CLIENT_GO: Final = "client-go"


@dataclass(frozen=True, slots=True)
class Environment:
    """How a peer is started, or why it cannot be."""

    command: Sequence[str] = ()
    version: str = ""
    missing: str = ""


def environment(peer: str) -> Environment:
    """The environment of one peer, made now if there is none."""
    try:
        return _go_program() if peer == CLIENT_GO else _python(peer)
    except subprocess.CalledProcessError as error:
        complaint = (error.stderr or "").strip().splitlines() or [f"exit code {error.returncode}"]
        return Environment(missing=f"cannot be installed: {complaint[-1]}")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Environment(missing=f"cannot be installed: {error}")


def _python(peer: str) -> Environment:
    requirements = (REQUIREMENTS / f"{peer}.txt").read_text()
    wanted = f"{sys.version}\n{requirements}"
    folder = _folder(peer)
    installed = folder / "installed.txt"
    python = folder / "bin" / "python"
    if not installed.is_file() or installed.read_text() != wanted:
        print(f"mirror: installing {peer} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(*pip, "--only-binary=:all:", "--no-deps", "-r", str(REQUIREMENTS / f"{peer}.txt"))
        installed.write_text(wanted)  # last: what is half made has none
    versions = dict(line.split("==") for line in requirements.split())
    return Environment((str(python),), versions[peer])


def _go_program() -> Environment:
    go = shutil.which("go")
    if go is None:
        return Environment(missing="needs Go to be compiled, and there is none")
    program = _folder(CLIENT_GO) / "informer"
    if not program.is_file():
        print("mirror: compiling client-go's informer (minutes, once)", file=sys.stderr, flush=True)
    _run(go, "build", "-mod=readonly", "-trimpath", "-o", str(program), ".", folder=GO_SOURCES)
    pinned = (GO_SOURCES / "go.mod").read_text().split()
    version = pinned[pinned.index("k8s.io/client-go") + 1]
    return Environment((str(program),), version)


def _folder(peer: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "reflet" / "bench-peers" / peer


def _run(*command: str, folder: Path | None = None) -> None:
    subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=folder
    )
