"""The Helm chart of the node agent, rendered.

Owns: where Helm is, and how the chart is rendered.  Must not know what is in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

REPOSITORY: Final = Path(__file__).parents[1]
CHART: Final = REPOSITORY / "deploy/helm/reflet-node"


def find_helm() -> str:
    """Where Helm is: built by ``make helm``, or installed; empty when there is none."""
    script = REPOSITORY / "tests/helm/program"
    built = subprocess.run(["/bin/sh", script], check=True, capture_output=True, text=True)
    return shutil.which(built.stdout.strip()) or shutil.which("helm") or ""


HELM: Final = find_helm()
needs_helm = pytest.mark.skipif(
    not HELM and os.environ.get("CI") != "true", reason="there is no helm: `make helm` builds it"
)


def charted(*settings: str, release: str = "reflet-node") -> list[Any]:
    """Render the chart for the namespace ``reflet-system``."""
    text = subprocess.run(
        [
            *(HELM, "template", release, str(CHART), "--namespace", "reflet-system"),
            *("--kube-version", "1.36.0"),
            *(word for setting in settings for word in ("--set", setting)),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [item for item in yaml.safe_load_all(text) if item]
