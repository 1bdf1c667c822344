"""The built images: what they say of themselves, and containers of them under runc.

`make image` builds them.  A container has the user, the variables and the entry point that the
image says, a root file system that cannot be written, no capability, and the network of this
machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
STORE: Final = Path(subprocess.check_output(["sh", HERE / "store-dir"], text=True).strip())
NAMESPACES: Final = ("pid", "mount", "ipc", "uts")


def why_not() -> str:
    """Why no container of the images can be run here; empty when one can."""
    if os.geteuid() != 0:
        return "only root can run the image"
    if shutil.which("buildah") is None or shutil.which("runc") is None or not STORE.is_dir():
        return "the image is not built: make image"
    return ""


def buildah(*arguments: str) -> str:
    return subprocess.run(
        [
            *("buildah", "--root", str(STORE / "root"), "--runroot", str(STORE / "run")),
            *("--storage-driver", "overlay", *arguments),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the store, and its files while it is mounted."""

    rootfs: Path
    config: dict[str, Any] = field(repr=False)

    @property
    def user(self) -> tuple[int, int]:
        user, group = map(int, self.config["User"].split(":"))
        return user, group


@contextmanager
def mounted(name: str) -> Iterator[Image]:
    """The image while its files can be read."""
    described = json.loads(buildah("inspect", "--type", "image", name))
    container = buildah("from", "--pull-never", name)
    try:
        yield Image(Path(buildah("mount", container)), described["OCIv1"]["config"])
    finally:
        buildah("rm", container)


@dataclass(frozen=True, slots=True)
class Container:
    """A container that runs; its output is in files of *folder*."""

    id: str
    state: Path
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    def runc(self, *arguments: str) -> None:
        subprocess.run(
            ["runc", "--root", str(self.state), *arguments], check=True, capture_output=True
        )


@contextmanager
def running(
    image: Image,
    folder: Path,
    arguments: Sequence[str],
    *,
    variables: dict[str, str] | None = None,
    user: tuple[int, int] | None = None,
    shared: Path | None = None,
    tmp: bool = True,
) -> Iterator[Container]:
    """Start a container as the image says, with *arguments*; it is killed at the end if need be.

    *shared* is a folder that it has as ``/shared``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(bundle(image, arguments, variables or {}, user or image.user, shared, tmp=tmp))
    )
    name = f"reflet-image-{uuid.uuid4().hex[:12]}"
    state = folder / "runc"
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            ["runc", "--root", str(state), "run", "--bundle", str(folder), name],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    container = Container(name, state, folder, process)
    try:
        yield container
    finally:
        if process.poll() is None:
            container.runc("kill", name, "KILL")
            process.wait()


def bundle(
    image: Image,
    arguments: Sequence[str],
    variables: dict[str, str],
    user: tuple[int, int],
    shared: Path | None,
    *,
    tmp: bool,
) -> dict[str, Any]:
    """The OCI runtime's description of the container."""
    limited = ["nosuid", "nodev", "noexec"]
    mounts: list[dict[str, Any]] = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {
            "destination": "/dev",
            "type": "tmpfs",
            "source": "tmpfs",
            "options": ["nosuid", "strictatime", "mode=755", "size=65536k"],
        },
    ]
    if shared is not None:
        mounts.append({"destination": "/shared", "source": str(shared), "options": ["bind", "rw"]})
    if tmp:
        mounts.append(
            {
                "destination": "/tmp",
                "type": "tmpfs",
                "source": "tmpfs",
                "options": [*limited, "mode=1777"],
            }
        )
    config = image.config
    environment = dict(pair.split("=", 1) for pair in config["Env"]) | variables
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user[0], "gid": user[1]},
            "args": [*config["Entrypoint"], *arguments],
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": config["WorkingDir"],
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "root": {"path": str(image.rootfs), "readonly": True},
        "mounts": mounts,
        "linux": {"namespaces": [{"type": each} for each in NAMESPACES]},
    }
