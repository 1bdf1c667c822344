"""Images, and who may pull them.

Upstream: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
"""

from collections.abc import Mapping
from typing import Annotated

from reflet.cri.messages.isolation import Int64Value
from reflet.cri.messages.sandboxes import PodSandboxConfig
from reflet.cri.wire import CriMessage, Int64, Uint64


class ImageSpec(CriMessage, frozen=True, kw_only=True):
    """Which image: a name, digest or id."""

    image: Annotated[str, 1] = ""
    annotations: Annotated[Mapping[str, str], 2] = {}
    user_specified_image: Annotated[str, 18] = ""
    runtime_handler: Annotated[str, 19] = ""
    image_ref: Annotated[str, 20] = ""


class ImageFilter(CriMessage, frozen=True, kw_only=True):
    """Which images are listed."""

    image: Annotated[ImageSpec | None, 1] = None


class Image(CriMessage, frozen=True, kw_only=True):
    """An image that is here; *pinned* ones are not to be removed."""

    id: Annotated[str, 1] = ""
    repo_tags: Annotated[tuple[str, ...], 2] = ()
    repo_digests: Annotated[tuple[str, ...], 3] = ()
    size: Annotated[Uint64, 4] = 0
    uid: Annotated[Int64Value | None, 5] = None
    username: Annotated[str, 6] = ""
    spec: Annotated[ImageSpec | None, 7] = None
    pinned: Annotated[bool, 8] = False


class ListImagesRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for images."""

    filter: Annotated[ImageFilter | None, 1] = None


class ListImagesResponse(CriMessage, frozen=True, kw_only=True):
    """The images."""

    images: Annotated[tuple[Image, ...], 1] = ()


class ImageStatusRequest(CriMessage, frozen=True, kw_only=True):
    """Asks about one image."""

    image: Annotated[ImageSpec | None, 1] = None
    verbose: Annotated[bool, 2] = False


class ImageStatusResponse(CriMessage, frozen=True, kw_only=True):
    """The image; None when it is not here."""

    image: Annotated[Image | None, 1] = None
    info: Annotated[Mapping[str, str], 2] = {}


class AuthConfig(CriMessage, frozen=True, kw_only=True):
    """Who pulls; its ``repr`` shows no secret."""

    username: Annotated[str, 1] = ""
    password: Annotated[str, 2] = ""
    auth: Annotated[str, 3] = ""
    server_address: Annotated[str, 4] = ""
    identity_token: Annotated[str, 5] = ""
    registry_token: Annotated[str, 6] = ""

    def __repr__(self) -> str:
        return f"AuthConfig(username={self.username!r}, server_address={self.server_address!r}, …)"


class PullImageRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for an image of a registry."""

    image: Annotated[ImageSpec | None, 1] = None
    auth: Annotated[AuthConfig | None, 2] = None
    sandbox_config: Annotated[PodSandboxConfig | None, 3] = None


class PullImageResponse(CriMessage, frozen=True, kw_only=True):
    """The image, by id or digest."""

    image_ref: Annotated[str, 1] = ""


class RemoveImageRequest(CriMessage, frozen=True, kw_only=True):
    """Asks to forget an image."""

    image: Annotated[ImageSpec | None, 1] = None


class RemoveImageResponse(CriMessage, frozen=True, kw_only=True):
    """Done."""


class ImageFsInfoRequest(CriMessage, frozen=True, kw_only=True):
    """Asks for the room that images take."""


class UInt64Value(CriMessage, frozen=True, kw_only=True):
    """A number that may be missing."""

    value: Annotated[Uint64, 1] = 0


class FilesystemIdentifier(CriMessage, frozen=True, kw_only=True):
    """Where a file system is mounted."""

    mountpoint: Annotated[str, 1] = ""


class FilesystemUsage(CriMessage, frozen=True, kw_only=True):
    """What is used of a file system."""

    timestamp: Annotated[Int64, 1] = 0
    fs_id: Annotated[FilesystemIdentifier | None, 2] = None
    used_bytes: Annotated[UInt64Value | None, 3] = None
    inodes_used: Annotated[UInt64Value | None, 4] = None


class ImageFsInfoResponse(CriMessage, frozen=True, kw_only=True):
    """The file systems of images, and of containers where those are others."""

    image_filesystems: Annotated[tuple[FilesystemUsage, ...], 1] = ()
    container_filesystems: Annotated[tuple[FilesystemUsage, ...], 2] = ()
