"""The contestants in Go, made in a cache folder.

Owns: compiling the modules of ``benchmarks/go``, and the words when that does not work.  Go
itself sees what is made already.  Must not know what the programs do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parent / "go"
TIMEOUT: Final = 600.0  # seconds to install, or to compile all of client-go


@dataclass(frozen=True, slots=True)
class Environment:
    """How a peer is started, or why it cannot be."""

    command: Sequence[str] = ()
    version: str = ""
    missing: str = ""


def go_program(module: str, peer: str, *, version_of: str) -> Environment:
    """The program of a *module*; its version is that of the Go module *version_of*."""
    go = shutil.which("go")
    if go is None:
        return Environment(missing="needs Go to be compiled, and there is none")
    sources = SOURCES / module
    program = peer_folder(peer) / module
    if not program.is_file():
        print(f"compiling {sources.name} for {peer} (minutes, once)", file=sys.stderr, flush=True)
    command = (go, "build", "-mod=readonly", "-trimpath", "-o", str(program), ".")
    try:
        run_quietly(*command, folder=sources)
    except subprocess.CalledProcessError as error:
        return Environment(missing=f"cannot be compiled: {complaint_of(error)}")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Environment(missing=f"cannot be compiled: {error}")
    pinned = (sources / "go.mod").read_text().split()
    return Environment((str(program),), pinned[pinned.index(version_of) + 1])


def peer_folder(peer: str) -> Path:
    """Where a peer is kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "reflet" / "bench-peers" / peer


def run_quietly(*command: str, folder: Path | None = None) -> None:
    """Run a command and keep what it prints for its error."""
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT, cwd=folder)


def complaint_of(error: subprocess.CalledProcessError) -> str:
    """The last thing that a command said."""
    lines = (error.stderr or "").strip().splitlines()
    return lines[-1] if lines else f"exit code {error.returncode}"
