"""pycurl for the benchmark: in a cache folder, not among what Reflet depends on.

Owns: the environment it is installed into, and the words when it cannot be.  Must not know what
it is used for.
"""

from __future__ import annotations

import os
import subprocess
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

REQUIREMENT: Final = "pycurl==7.49.0"
TIMEOUT: Final = 120.0  # seconds to install

SHOW_VERSION: Final = (
    "import pycurl, sysconfig; print(pycurl.version, sysconfig.get_path('platlib'), sep='\\n')"
)


@dataclass(frozen=True, slots=True)
class Pycurl:
    """Where pycurl is: variables that let this interpreter import it, or why there is none."""

    version: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def find_pycurl() -> Pycurl:
    """Find pycurl in the cache, or install it there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "reflet" / "bench-pycurl"
    python = folder / "bin" / "python"
    try:
        if not _imports(python):
            venv.create(folder, clear=True, with_pip=True)
            pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            _run(*pip, "--only-binary=:all:", REQUIREMENT)
        version, place = _run(python, "-c", SHOW_VERSION).splitlines()
    except subprocess.CalledProcessError as error:
        complaint = (error.stderr or "").strip().splitlines() or [f"exit code {error.returncode}"]
        return Pycurl(missing=f"{REQUIREMENT} cannot be installed: {complaint[-1]}")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Pycurl(missing=f"{REQUIREMENT} cannot be installed: {error}")
    # The contestants run in our own interpreter, so that nothing but the wire differs.
    path = os.pathsep.join(filter(None, (place, os.environ.get("PYTHONPATH"))))
    return Pycurl(version, {"PYTHONPATH": path})


def _imports(python: Path) -> bool:
    wanted = REQUIREMENT.partition("==")[2]
    try:
        return f"/{wanted} " in _run(python, "-c", SHOW_VERSION)
    except (OSError, subprocess.CalledProcessError):
        return False


def _run(*command: str | Path) -> str:
    finished = subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT)
    return finished.stdout
