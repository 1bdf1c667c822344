"""``reflet sidecar`` as a chart runs it: as any user, who has no home and no place to write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.integration.plain_client import Client

NOBODY: Final = 54_321
"""A user that no file of users knows."""
# Everything is read only but for one folder, which is of a group of the pod's, as an emptyDir is.
IN_A_POD: Final = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$FOLDER"
chown 0:472 "$FOLDER"
chmod 2775 "$FOLDER"
for place in $(awk '$2 != ENVIRON["FOLDER"] { print $2 }' /proc/self/mounts); do
  mount -o remount,bind,ro "$place" 2>/dev/null || true
done
if touch /tmp/x 2>/dev/null; then echo "/tmp can be written" >&2; exit 9; fi
cd /
setpriv --reuid NOBODY --regid 472 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
ls -l "$FOLDER"
cat "$FOLDER"/*
""".replace("NOBODY", str(NOBODY))


AS_NOBODY: Final = ("setpriv", "--reuid", str(NOBODY), "--regid", "472", "--clear-groups")


def why_not() -> str:
    """Why nobody can be made of us here; empty when one can."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("unshare") is None:
        return "only root can become somebody else"
    for probe in (
        ("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
        (*AS_NOBODY, sys.executable, "-c", "import reflet"),
    ):
        found = subprocess.run(probe, check=False, capture_output=True, text=True, cwd="/")
        if found.returncode:
            return f"{probe[0]}: {found.stderr.strip()}"
    return ""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_any_user_without_a_home_writes_to_its_folder_only(
    server: RunningServer, client: Client, config_maps: str, folder: Path
) -> None:
    if reason := why_not():
        pytest.skip(reason)
    files, config = folder / "files", folder / "config"
    files.mkdir()
    config.write_text(server.kubeconfig.read_text())
    config.chmod(0o644)
    labelled = {"metadata": {"name": "dash", "labels": {"find": "me"}}, "data": {"a.json": "{}"}}
    assert client.request("POST", config_maps, labelled).code == 201
    variables = {"LABEL": "find", "FOLDER": str(files), "METHOD": "LIST", "HEALTH_PORT": "0"}

    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", IN_A_POD, "sh", sys.executable, "-m", "reflet", "sidecar"],
        env={"PATH": os.environ["PATH"], "KUBECONFIG": str(config), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert f" {NOBODY} 472 " in done.stdout
    assert done.stdout.endswith(" a.json\n{}")
