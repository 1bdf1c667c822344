"""Every way to install a release, gone as its user would, in folders that are thrown away."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path

from tools.release.commands import ReleaseError, run, say
from tools.release.steps import SIGNED_AS, SUMS

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: web
    command: [sh, -c, 'echo is $COLOR']
    env: [{name: COLOR, value: blue}]
"""


def install_everywhere(dist: Path, folder: Path, *, version: str, key: Path) -> None:
    """Check the signature, then install by archive, krew's layout, pip, pipx and uv."""
    folder.mkdir()
    (folder / "pod.yaml").write_text(POD)
    _check_signature(dist, folder, key)
    [wheel] = dist.glob("*.whl")
    with tarfile.open(dist / f"reflet-{version}-linux-amd64.tar.gz") as tar:
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)  # Python 3.11.2 has none
        tar.extractall(folder / "archive")  # noqa: S202 - our own
    unpacked = folder / f"archive/reflet-{version}/reflet"
    _try("the archive", unpacked, folder, version)
    # krew links its folder's program under the plugin's name.
    plugin = folder / "kubectl-reflet"
    plugin.symlink_to(unpacked)
    _try("the archive as krew links it", plugin, folder, version)
    tools = folder / "tools/bin/python"
    run(sys.executable, "-m", "venv", folder / "tools")
    run(tools, "-m", "pip", "install", "--quiet", "pipx", "uv")
    environment = {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "pipx-bin"),
        "PIPX_MAN_DIR": str(folder / "pipx-man"),
        "UV_TOOL_DIR": str(folder / "uv"),
        "UV_TOOL_BIN_DIR": str(folder / "uv-bin"),
    }
    run(tools, "-m", "pipx", "install", "--python", sys.executable, wheel, environment=environment)
    _try("pipx install", folder / "pipx-bin/reflet", folder, version)
    run(
        tools,
        "-m",
        "uv",
        "tool",
        "install",
        "--quiet",
        "--python",
        sys.executable,
        wheel,
        environment=environment,
    )
    _try("uv tool install", folder / "uv-bin/reflet", folder, version)


def _check_signature(dist: Path, folder: Path, key: Path) -> None:
    allowed = folder / "allowed_signers"
    allowed.write_text(f"release {key.with_suffix('.pub').read_text()}")
    sums = dist / SUMS
    run(
        *("ssh-keygen", "-q", "-Y", "verify", "-f", allowed, "-I", "release"),
        *("-n", SIGNED_AS, "-s", f"{sums}.sig"),
        stdin=sums,
    )
    run("sha256sum", "--quiet", "--check", SUMS, cwd=dist)
    say("the signature and the checksums are right")


def _try(way: str, program: Path, folder: Path, version: str) -> None:
    said = run(program, "--version")
    if version not in said:
        raise ReleaseError(f"{way}: --version says {said!r}, not {version}")
    ran = run(
        *(program, "run", "-f", folder / "pod.yaml", "pod/web"),
        environment={"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")},
    )
    if "is blue" not in ran:
        raise ReleaseError(f"{way}: the pod's process said {ran!r}")
    say(f"{way}: works")
