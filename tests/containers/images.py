"""Container images made of files with the standard library: no registry and no build tool.

Owns: the bytes of an OCI image, and the two images that the tests use.  Must not know how an image
gets into a runtime: :mod:`registry` serves it, :mod:`containerd` imports it.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.containers.programs import Programs

ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}  # Go's names
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG: Final = "application/vnd.oci.image.config.v1+json"
LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
INDEX: Final = "application/vnd.oci.image.index.v1+json"
PATH: Final = "PATH=/usr/local/bin:/usr/bin:/bin"

PASSWD: Final = b"root:x:0:0:root:/root:/bin/sh\nweb:x:1000:1000:web:/home/web:/bin/sh\n"
GROUP: Final = b"root:x:0:\nweb:x:1000:\n"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link in an image."""

    target: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image of one layer: a manifest, and the blobs it names by their digests."""

    manifest: bytes
    blobs: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """The digest of the manifest, which is the image's in a repository."""
        return digest_of(self.manifest)

    def archive(self, name: str) -> bytes:
        """Return it as a tar file in OCI layout, which ``ctr images import`` takes."""
        descriptor = {
            "mediaType": MANIFEST,
            "digest": self.digest,
            "size": len(self.manifest),
            "annotations": {"io.containerd.image.name": name},
        }
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [descriptor]}
        files: dict[str, bytes | Link] = {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": _json(index),
        }
        for digest, blob in {**self.blobs, self.digest: self.manifest}.items():
            files["blobs/" + digest.replace(":", "/")] = blob
        return _tar(files)


def make_image(
    files: Mapping[str, bytes | Link],
    *,
    folders: Mapping[str, int] | None = None,
    entrypoint: Sequence[str] = (),
    command: Sequence[str] = (),
    environment: Sequence[str] = (PATH,),
    user: str = "",
    working_directory: str = "",
) -> Image:
    """Make an image of executable files and folders, by their paths without a leading slash."""
    layer = _tar(files, folders or {})
    config = _json(
        {
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {
                "Entrypoint": list(entrypoint),
                "Cmd": list(command),
                "Env": list(environment),
                "User": user,
                "WorkingDir": working_directory,
            },
            "rootfs": {"type": "layers", "diff_ids": [digest_of(layer)]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor(CONFIG, config),
            "layers": [_descriptor(LAYER, layer)],
        }
    )
    return Image(manifest, {digest_of(blob): blob for blob in (config, layer)})


def pause_image(programs: Programs) -> Image:
    """Make the image of a pod's first process."""
    return make_image({"pause": programs["pause"].read_bytes()}, entrypoint=["/pause"])


def busybox_image(
    programs: Programs,
    *,
    entrypoint: Sequence[str] = (),
    command: Sequence[str] = ("sh",),
    environment: Sequence[str] = (PATH,),
    user: str = "",
    working_directory: str = "",
) -> Image:
    """Make an image with a shell and busybox's other programs, and a user ``web`` (1000)."""
    busybox = programs["busybox"]
    listed = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True)
    files: dict[str, bytes | Link] = {
        "bin/busybox": busybox.read_bytes(),
        "etc/passwd": PASSWD,
        "etc/group": GROUP,
    }
    for name in listed.stdout.split():
        files.setdefault(f"bin/{name}", Link("busybox"))
    return make_image(
        files,
        folders={"tmp": 0o1777, "root": 0o700, "home/web": 0o755, "proc": 0o755, "sys": 0o755},
        entrypoint=entrypoint,
        command=command,
        environment=environment,
        user=user,
        working_directory=working_directory,
    )


def digest_of(blob: bytes) -> str:
    """Return the name that a registry and a runtime have for these bytes."""
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def _descriptor(media_type: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest_of(blob), "size": len(blob)}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _tar(files: Mapping[str, bytes | Link], folders: Mapping[str, int] | None = None) -> bytes:
    """Return a tar file whose bytes depend on the content alone."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, mode in (folders or {}).items():
            folder = tarfile.TarInfo(path)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for path, content in files.items():
            file = tarfile.TarInfo(path)
            file.mode = 0o755
            match content:
                case Link(target):
                    file.type, file.linkname = tarfile.SYMTYPE, target
                    tar.addfile(file)
                case bytes():
                    file.size = len(content)
                    tar.addfile(file, io.BytesIO(content))
    return written.getvalue()
