from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from reflet.api.core.config import Secret
from reflet.api.meta import ObjectMeta
from reflet.node.cri.keyring import InvalidPullSecret, credentials_for


def secret(auths: Any, *, old: bool = False, name: str = "pull") -> Secret:
    kind, key = ("dockercfg", ".dockercfg") if old else ("dockerconfigjson", ".dockerconfigjson")
    document = auths if old else {"auths": auths}
    return Secret(
        metadata=ObjectMeta(name=name, namespace="shop"),
        type=f"kubernetes.io/{kind}",
        data={key: json.dumps(document).encode()},
    )


def user(name: str) -> dict[str, str]:
    return {"username": name, "password": "p"}


def users(repository: str, *secrets: Secret) -> list[str]:
    return [each.username for each in credentials_for(repository, secrets)]


@pytest.mark.parametrize(
    ("place", "repository", "matches"),
    [
        ("quay.io", "quay.io/a/b", True),
        ("https://quay.io/v1/", "quay.io/a/b", True),
        ("quay.io/a", "quay.io/a/b", True),
        ("quay.io/other", "quay.io/a/b", False),
        ("*.example.com", "registry.example.com/a", True),
        ("*.example.com", "a.b.example.com/a", False),
        ("registry:5000", "registry:5000/a", True),
        ("registry:5000", "registry:6000/a", False),
        ("registry", "registry:6000/a", True),
        ("https://index.docker.io/v1/", "docker.io/library/busybox", True),
        ("docker.io", "docker.io/library/busybox", True),
        ("quay.io", "docker.io/library/busybox", False),
    ],
)
def test_credentials_are_found_by_registry(place: str, repository: str, matches: bool) -> None:
    assert users(repository, secret({place: user("ada")})) == ["ada"] * matches


def test_longer_places_come_first_and_then_the_order_of_the_pod() -> None:
    first = secret({"quay.io": user("one"), "quay.io/a": user("deep")})
    second = secret({"quay.io": user("two")}, name="second")

    assert users("quay.io/a/b", first, second) == ["deep", "one", "two"]


def test_the_old_form_and_joined_credentials_are_read() -> None:
    joined = base64.b64encode(b"ada:love:lace").decode()
    (found,) = credentials_for("quay.io/a", [secret({"quay.io": {"auth": joined}}, old=True)])

    assert (found.username, found.password) == ("ada", "love:lace")


def test_a_secret_of_another_type_holds_no_credentials() -> None:
    other = Secret(metadata=ObjectMeta(name="x", namespace="shop"), data={"a": b"b"})

    assert credentials_for("quay.io/a", [other]) == ()


@pytest.mark.parametrize("document", [b"{", b"[]", b'{"auths": []}'])
def test_a_broken_secret_is_named_and_not_shown(document: bytes) -> None:
    broken = Secret(
        metadata=ObjectMeta(name="pull", namespace="shop"),
        type="kubernetes.io/dockerconfigjson",
        data={".dockerconfigjson": document},
    )

    with pytest.raises(InvalidPullSecret, match="the pull secret shop/pull"):
        credentials_for("quay.io/a", [broken])
