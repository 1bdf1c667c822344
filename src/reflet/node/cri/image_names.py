"""Names of images: which registry, repository, tag and digest, and what is left out.

Upstream: github.com/distribution/reference, ParseNormalizedNamed; pkg/util/parsers/parsers.go
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

DEFAULT_TAG: Final = "latest"
DOCKER_HUB: Final = "docker.io"
OFFICIAL: Final = "library"
LONGEST_NAME: Final = 255

_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST: Final = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9-]+)*|\[[0-9a-fA-F:]+\])"
_REFERENCE: Final = re.compile(
    rf"(?:(?P<host>{_HOST}(?::[0-9]+)?)/)?(?P<path>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
)
_IMAGE_ID: Final = re.compile(r"[a-f0-9]{64}")


class InvalidImageName(ValueError):
    """A name that no image has; the text is what the kubelet says of it."""


@dataclass(frozen=True, slots=True)
class ImageName:
    """An image's name, taken apart; without tag and digest the newest of its name is meant."""

    host: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def repository(self) -> str:
        """Registry and path, by which credentials are found."""
        return f"{self.host}/{self.path}"


def parse_image_name(name: str) -> ImageName:
    """Take the name of an image apart; raises InvalidImageName."""
    host, slash, rest = name.partition("/")
    has_host = slash and ("." in host or ":" in host or host == "localhost" or host != host.lower())
    full = name if has_host else f"{DOCKER_HUB}/{name if slash else f'{OFFICIAL}/{name}'}"
    found = _REFERENCE.fullmatch(full)
    remote = full.partition("/")[2].partition(":")[0]
    problem = ""
    if _IMAGE_ID.fullmatch(name):
        problem = f"invalid repository name ({name}), cannot specify 64-byte hexadecimal strings"
    elif remote != remote.lower():
        problem = f"invalid reference format: repository name ({remote}) must be lowercase"
    elif not name or (has_host and not rest) or found is None:
        problem = "invalid reference format"
    elif len(found["path"]) > LONGEST_NAME:
        problem = f"repository name must not be more than {LONGEST_NAME} characters"
    if problem or found is None:
        raise InvalidImageName(f'couldn\'t parse image name "{name}": {problem}')
    return ImageName(
        found["host"] or DOCKER_HUB, found["path"], found["tag"] or "", found["digest"] or ""
    )


def with_default_tag(name: str) -> str:
    """The name as the runtime is asked for it; raises InvalidImageName."""
    parsed = parse_image_name(name)
    return name if parsed.tag or parsed.digest else f"{name}:{DEFAULT_TAG}"


def default_policy(name: str) -> str:
    """When to pull an image for which nobody said when, as API servers decide it."""
    try:
        parsed = parse_image_name(name)
    except InvalidImageName:
        return "IfNotPresent"
    is_newest = parsed.tag in {"", DEFAULT_TAG} and not parsed.digest
    return "Always" if is_newest else "IfNotPresent"
