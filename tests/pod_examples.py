"""The two examples by which pods' environments are usually explained.

One takes all keys of a Secret; the other asks a ConfigMap for a key that it does not have.
"""

from __future__ import annotations

import base64
from typing import Any, Final


def _pod(name: str, container: dict[str, Any]) -> dict[str, Any]:
    whole = {
        "name": "test-container",
        "image": "busybox",
        "command": ["/bin/sh", "-c", "env"],
        **container,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"restartPolicy": "Never", "containers": [whole]},
    }


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SECRET: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "mysecret"},
    "type": "Opaque",
    "data": {"USER_NAME": _encoded("admin"), "PASSWORD": _encoded("1f2d1e2e67df")},
}
SECRET_POD: Final = _pod("secret-test-pod", {"envFrom": [{"secretRef": {"name": "mysecret"}}]})

CONFIG_MAP: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "special-config"},
    "data": {"SPECIAL_LEVEL": "very", "SPECIAL_TYPE": "charm"},
}
CONFIG_MAP_POD: Final = _pod(
    "dapi-test-pod",
    {
        "env": [
            {
                "name": "SPECIAL_LEVEL_KEY",
                "valueFrom": {"configMapKeyRef": {"name": "special-config", "key": "special.how"}},
            }
        ]
    },
)
OBJECTS: Final = (
    ("secrets", SECRET),
    ("pods", SECRET_POD),
    ("configmaps", CONFIG_MAP),
    ("pods", CONFIG_MAP_POD),
)
NO_KEY: Final = "couldn't find key special.how in ConfigMap {namespace}/special-config"


def same_everywhere(value: Any) -> Any:
    """Return a document without what only a server gives: the versions of objects."""
    if isinstance(value, dict):
        return {
            name: same_everywhere(inner)
            for name, inner in value.items()
            if name != "resourceVersion"
        }
    if isinstance(value, list):
        return [same_everywhere(inner) for inner in value]
    return value
