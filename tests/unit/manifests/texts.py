"""Files of manifests, written down and read as if applied."""

from __future__ import annotations

import textwrap
from pathlib import Path

from reflet.manifests.applied import AppliedManifests
from reflet.manifests.applying import read_applied

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: shop/web}]}
"""


def applied(folder: Path, *documents: str, namespace: str = "default") -> AppliedManifests:
    """Read documents of one file."""
    path = folder / "manifests.yaml"
    path.write_text("---\n".join(textwrap.dedent(each).lstrip("\n") for each in documents))
    return read_applied([str(path)], namespace=namespace)


def config_map(name: str = "settings", *, data: str = "{}", more: str = "") -> str:
    """Return the text of a ConfigMap."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n{more}\n"
