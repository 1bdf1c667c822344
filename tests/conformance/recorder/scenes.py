"""What a recorded scene is: an object as it stands, and one request that changes it.

Owns the vocabulary of the scripts beside this file, and the objects they begin with.  Must not
know servers, files, or what the answers are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

JSON: Final = "application/json-patch+json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
PLAIN: Final = "application/json"

# Stands in bodies for the name that the scene's object gets.
NAME: Final = "@name@"


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``body`` is text, in which ``@name@`` becomes the name of the object."""

    content_type: str
    body: str
    manager: str = "someone"
    force: bool | None = None
    subresource: str = ""
    method: str = "PATCH"


@dataclass(frozen=True, slots=True)
class Scene:
    """A request with a name, and the requests that came before it."""

    name: str
    kind: str
    before: tuple[Request, ...]
    request: Request


def text(body: Any) -> str:
    """Write a body; text stays as it is."""
    return body if isinstance(body, str) else json.dumps(body)


def create(body: Any, manager: str = "creator") -> Request:
    """POST the object."""
    return Request(PLAIN, text(body), manager, method="POST")


def replace(body: Any, manager: str = "someone", subresource: str = "") -> Request:
    """PUT the object."""
    return Request(PLAIN, text(body), manager, subresource=subresource, method="PUT")


def json_patch(*operations: Any, manager: str = "someone") -> Request:
    """PATCH by operations."""
    return Request(JSON, text(list(operations)), manager)


def merge(body: Any, manager: str = "someone", subresource: str = "") -> Request:
    """PATCH by merging."""
    return Request(MERGE, text(body), manager, subresource=subresource)


def strategic(body: Any, manager: str = "someone", subresource: str = "") -> Request:
    """PATCH by strategic merging."""
    return Request(STRATEGIC, text(body), manager, subresource=subresource)


def apply(
    body: Any, manager: str = "applier", *, force: bool | None = None, subresource: str = ""
) -> Request:
    """PATCH by applying."""
    return Request(APPLY, text(body), manager, force, subresource)


# Objects with every default written out, so that a patched object is not filled up afterwards
# by rules that no patch knows.


def config_map(**fields: Any) -> dict[str, Any]:
    """A ConfigMap; ``metadata`` is added to the name."""
    return whole("v1", "ConfigMap", fields)


def container(name: str = "web", **fields: Any) -> dict[str, Any]:
    """A container with its defaults."""
    return {
        "name": name,
        "image": f"{name}:1",
        "imagePullPolicy": "IfNotPresent",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **fields,
    }


def pod_spec(*containers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A pod spec with its defaults."""
    return {
        "containers": list(containers) or [container()],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        **fields,
    }


def pod(*containers: dict[str, Any], metadata: Any = None, **fields: Any) -> dict[str, Any]:
    """A pod with its defaults."""
    spec = pod_spec(*containers, **fields)
    return whole("v1", "Pod", {"metadata": metadata or {}, "spec": spec})


def deployment(*containers: dict[str, Any], template: Any = None, **fields: Any) -> dict[str, Any]:
    """A deployment with its defaults; ``template`` is added to the pod's spec."""
    spec = {
        "progressDeadlineSeconds": 600,
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": {"app": "shop"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": pod_spec(*containers, **(template or {})),
        },
        **fields,
    }
    return whole("apps/v1", "Deployment", {"spec": spec})


def service(*ports: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A headless service with its defaults."""
    spec = {
        "clusterIP": "None",
        "clusterIPs": ["None"],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": list(ports),
        "selector": {"app": "shop"},
        "sessionAffinity": "None",
        "type": "ClusterIP",
        **fields,
    }
    return whole("v1", "Service", {"spec": spec})


def widget(**fields: Any) -> dict[str, Any]:
    """A custom resource."""
    return whole("example.test/v1", "Widget", fields)


def whole(api_version: str, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """An object with its type and name."""
    metadata = {"name": NAME, **fields.get("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, **fields, "metadata": metadata}


def port(number: int, **fields: Any) -> dict[str, Any]:
    """A container's port."""
    return {"containerPort": number, "protocol": "TCP", **fields}


def empty_volume(name: str) -> dict[str, Any]:
    """A volume that is an empty folder."""
    return {"name": name, "emptyDir": {}}


WIDGET_DEFINITION: Final[dict[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.test"},
    "spec": {
        "group": "example.test",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "tags": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "steps": {"type": "array", "items": {"type": "string"}},
                                    "parts": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "properties": {
                                                "id": {"type": "integer"},
                                                "note": {"type": "string"},
                                            },
                                            "required": ["id"],
                                        },
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["id"],
                                    },
                                    "whole": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string"},
                                        "x-kubernetes-map-type": "atomic",
                                    },
                                    "loose": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"phase": {"type": "string"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}
