from __future__ import annotations

import pytest

from reflet.node.cri.image_names import (
    ImageName,
    InvalidImageName,
    default_policy,
    parse_image_name,
    with_default_tag,
)

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("busybox", ImageName("docker.io", "library/busybox")),
        ("shop/web:1", ImageName("docker.io", "shop/web", "1")),
        ("localhost/web:1", ImageName("localhost", "web", "1")),
        ("127.0.0.1:5000/a/b", ImageName("127.0.0.1:5000", "a/b")),
        (f"quay.io/a/b@{DIGEST}", ImageName("quay.io", "a/b", "", DIGEST)),
        (f"quay.io/a/b:1@{DIGEST}", ImageName("quay.io", "a/b", "1", DIGEST)),
    ],
)
def test_a_name_is_taken_apart(name: str, parsed: ImageName) -> None:
    assert parse_image_name(name) == parsed


@pytest.mark.parametrize("name", ["", "Not/An Image", "a b", "quay.io/", "x:tag:tag", "-a", "UP"])
def test_what_no_image_is_called_is_refused(name: str) -> None:
    with pytest.raises(InvalidImageName, match="couldn't parse image name"):
        parse_image_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("shop/Web", r"invalid reference format: repository name \(shop/Web\) must be lowercase"),
        ("Web:1", r"invalid reference format: repository name \(library/Web\) must be lowercase"),
        ("a" * 64, "cannot specify 64-byte hexadecimal strings"),
        ("a/" * 128 + "a", "repository name must not be more than 255 characters"),
    ],
)
def test_what_is_wrong_is_said_as_the_kubelet_says_it(name: str, why: str) -> None:
    with pytest.raises(InvalidImageName, match=why):
        parse_image_name(name)


def test_the_newest_is_meant_when_nobody_says() -> None:
    assert with_default_tag("busybox") == "busybox:latest"
    assert with_default_tag("busybox:1") == "busybox:1"
    assert with_default_tag(f"busybox@{DIGEST}") == f"busybox@{DIGEST}"


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("web:1", "IfNotPresent"),
        ("A B", "IfNotPresent"),
    ],
)
def test_only_what_changes_is_pulled_always(name: str, policy: str) -> None:
    assert default_policy(name) == policy
