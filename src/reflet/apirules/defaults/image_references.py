"""What the reference of an image says: the tag it names, if it is a reference at all.

Upstream: k8s.io/kubernetes/pkg/util/parsers/parsers.go, ParseImageName;
github.com/distribution/reference/normalize.go, ParseNormalizedNamed
"""

from __future__ import annotations

import re
from typing import Final

DEFAULT_TAG: Final = "latest"

_LONGEST_PATH: Final = 255
_DIGEST_LENGTHS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}

_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_COMPONENT: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE: Final = re.compile(
    rf"(?:{_HOST}/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?"
    r"(?:@(?P<algorithm>[A-Za-z0-9]+):(?P<digest>[a-f0-9]+))?"
)
_IDENTIFIER: Final = re.compile(r"[a-f0-9]{64}")


def image_tag(image: str) -> str:
    """Give the tag of a reference; ``latest`` when it has neither a tag nor a digest.

    Nothing for a reference with a digest alone, and for what is not a reference.
    """
    if _IDENTIFIER.fullmatch(image):
        return ""
    match = _REFERENCE.fullmatch(_with_host(image))
    if match is None or len(match["path"]) > _LONGEST_PATH:
        return ""
    if match["algorithm"]:
        is_digest = len(match["digest"]) == _DIGEST_LENGTHS.get(match["algorithm"])
        return (match["tag"] or "") if is_digest else ""
    return match["tag"] or DEFAULT_TAG


def _with_host(image: str) -> str:
    first, slash, rest = image.partition("/")
    if not slash:
        return f"docker.io/library/{image}"
    if first == "localhost" or first != first.lower() or "." in first or ":" in first:
        is_official = first in {"docker.io", "index.docker.io"} and "/" not in rest
        return f"docker.io/library/{rest}" if is_official else image
    return f"docker.io/{image}"
