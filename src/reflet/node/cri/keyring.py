"""Credentials for registries, from the Secrets that a pod names: which, and in which order.

A Secret of another type, or one that cannot be read, is a pod's mistake, and the image may be had
without: what is wrong is returned beside what was found.  Nothing of a credential is ever shown.

Upstream: pkg/credentialprovider/keyring.go, BasicDockerKeyring; pkg/credentialprovider/config.go;
pkg/credentialprovider/secrets/secrets.go, MakeDockerKeyring
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from reflet.api.core.config import Secret
from reflet.cri.messages.images import AuthConfig

JSON_TYPE: Final = "kubernetes.io/dockerconfigjson"
JSON_KEY: Final = ".dockerconfigjson"
OLD_TYPE: Final = "kubernetes.io/dockercfg"
OLD_KEY: Final = ".dockercfg"
DOCKER_HUB: Final = "index.docker.io"


class InvalidPullSecret(ValueError):
    """A Secret that holds no credentials; the text names it, and nothing of what it holds."""


def credentials_for(repository: str, secrets: Iterable[Secret]) -> tuple[AuthConfig, ...]:
    """The credentials for a repository as ``registry/path``, the best match first.

    Longer registry paths come before shorter ones, and then Secrets in the pod's order.  Raises
    InvalidPullSecret.
    """
    entries: list[tuple[str, AuthConfig]] = []
    for secret in secrets:
        entries += [
            (_location(registry), _auth(entry)) for registry, entry in _registries(secret).items()
        ]
    matching = [(place, auth) for place, auth in entries if _matches(place, repository)]
    # Stable: Secrets of one place stay in their order.
    matching.sort(key=lambda each: each[0], reverse=True)
    return tuple(auth for _, auth in matching)


def _registries(secret: Secret) -> Mapping[str, Mapping[str, Any]]:
    name = f"{secret.metadata.namespace}/{secret.metadata.name}"
    if secret.type == JSON_TYPE and JSON_KEY in secret.data:
        document = _document(secret.data[JSON_KEY], name).get("auths", {})
    elif secret.type == OLD_TYPE and OLD_KEY in secret.data:
        document = _document(secret.data[OLD_KEY], name)
    else:
        return {}
    if not isinstance(document, dict):
        raise InvalidPullSecret(f"the pull secret {name} is not what its type says")
    return {registry: entry for registry, entry in document.items() if isinstance(entry, dict)}


def _document(data: bytes, name: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InvalidPullSecret(f"the pull secret {name} is not JSON")
    return document


def _auth(entry: Mapping[str, Any]) -> AuthConfig:
    username, password = str(entry.get("username", "")), str(entry.get("password", ""))
    joined = entry.get("auth")
    if joined and not (username and password):
        try:
            decoded = base64.b64decode(str(joined)).decode().rstrip("\0")
        except (binascii.Error, UnicodeDecodeError):
            decoded = ""
        username, _, password = decoded.partition(":")
    return AuthConfig(
        username=username,
        password=password,
        identity_token=str(entry.get("identitytoken", "")),
        registry_token=str(entry.get("registrytoken", "")),
    )


def _location(registry: str) -> str:
    """What a key means: a host and perhaps a path, without scheme and API version."""
    parsed = urlsplit(registry if "://" in registry else f"https://{registry}")
    path = parsed.path
    for version in ("/v1", "/v2"):
        if path in {version, f"{version}/"}:
            path = ""
    return parsed.netloc + path.rstrip("/")


def _matches(place: str, repository: str) -> bool:
    """Whether a place, whose host may hold ``*``, is that of a repository."""
    host, _, path = place.partition("/")
    repository_host, _, repository_path = repository.partition("/")
    if host in {DOCKER_HUB, "docker.io"}:
        host = "docker.io"
    name, _, port = host.partition(":")
    other, _, other_port = repository_host.partition(":")
    if port and port != other_port:
        return False
    parts, others = name.split("."), other.split(".")
    if len(parts) != len(others) or not all(map(fnmatch.fnmatchcase, others, parts)):
        return False
    return repository_path.startswith(path)
