"""Where the kube-apiserver and etcd programs are.

Owns: finding them, and saying how to get them.  Must not know how they are built, which is
kube/build, nor what they are started with.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ASSETS_SCRIPT: Final = Path(__file__).parent / "kube" / "assets-dir"


class BinariesMissing(Exception):
    """kube-apiserver or etcd is not there; the message says how to get them."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The two programs."""

    etcd: Path
    kube_apiserver: Path


def find_binaries() -> Binaries:
    """Find the programs in ``KUBEBUILDER_ASSETS``, or where ``make kube`` puts them."""
    shell = ["/bin/sh", str(ASSETS_SCRIPT)]
    found = subprocess.run(shell, check=True, capture_output=True, text=True)
    folder = Path(found.stdout.rstrip("\n"))
    binaries = Binaries(folder / "etcd", folder / "kube-apiserver")
    for binary in (binaries.kube_apiserver, binaries.etcd):
        if not os.access(binary, os.X_OK):
            if os.environ.get("KUBEBUILDER_ASSETS"):
                raise BinariesMissing(f"KUBEBUILDER_ASSETS is set, and {binary} is not a program")
            raise BinariesMissing(f"there is no {binary}: `make kube` builds it, once")
    return binaries
