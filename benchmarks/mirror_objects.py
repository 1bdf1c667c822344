"""The objects that the mirror benchmark serves: many, alike, and of an exact size.

Owns: what a ConfigMap and a pod of the benchmark look like, in JSON and, the ConfigMap, in
protobuf; and how many of them a namespace has.  Must not know HTTP or who reads them.

The namespace says everything: ``objects-500-updates-9000`` has 500 objects, and whoever watches
it is sent 9,000 updates of them in turn; behind ``protobuf-`` the same comes as protobuf, and
before ``-settled`` updates come after a silence in which a client can finish with the objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

CONFIG_MAP_SIZE: Final = 1024  # bytes of JSON, as a watch sends it
POD_SIZE: Final = 5600

SETTLED: Final = "-settled"
SETTLED_A_SECOND: Final = 50_000  # objects with which any client that has them is done

FIRST_VERSION: Final = 1_000_000
NUMBER_MARK: Final = "@@@@@"  # becomes the object's number, of five digits
VERSION_MARK: Final = "~~~~~~~"  # becomes its version, of seven
INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
CREATED: Final = "2026-01-01T00:00:00Z"
CREATED_SECONDS: Final = 1767225600
CONDITIONS: Final = ("Initialized", "Ready", "ContainersReady", "PodScheduled")

Encoded = Callable[[int, int], bytes]
"""From an object's number and version to its bytes."""


def namespace_for(
    objects: int, updates: int = 0, *, protobuf: bool = False, settled: bool = False
) -> str:
    """The namespace that has so many objects and updates."""
    name = f"objects-{objects}-updates-{updates}"
    return f"{'protobuf-' if protobuf else ''}{name}{SETTLED if settled else ''}"


def object_name(number: int) -> str:
    """The name of one object."""
    return f"settings-{number:05}"


@dataclass(frozen=True, slots=True)
class Collection:
    """The objects of one kind in one namespace, as they are sent."""

    kind: str
    version: int
    items: Sequence[bytes]  # of a list, whose items do not say what they are
    initial_events: Sequence[bytes]  # the same objects, and the bookmark behind them
    updates: Sequence[bytes]
    silence: float  # seconds before the updates

    def listing_head(self, following: str) -> bytes:
        """What comes before the items of a page; *following* is the token of the next."""
        metadata = {"resourceVersion": str(self.version)}
        if following:
            metadata["continue"] = following
        head = {"kind": f"{self.kind}List", "apiVersion": "v1", "metadata": metadata, "items": []}
        return _json(head).removesuffix(b"]}")


def collection(kind: str, namespace: str) -> Collection:
    """The objects of a namespace whose name says how many."""
    found = re.fullmatch(rf"(protobuf-)?objects-(\d+)-updates-(\d+)({SETTLED})?", namespace)
    if found is None:
        raise ValueError(f"the name of the namespace {namespace} says nothing")
    objects, updates = int(found[2]), int(found[3])
    version = FIRST_VERSION + objects
    described = DESCRIBED[kind](namespace)
    forms = protobuf_forms(kind, described) if found[1] else json_forms(kind, described)
    changed = [forms.modified(number % objects, version + 1 + number) for number in range(updates)]
    return Collection(
        kind=kind,
        version=version,
        items=[forms.item(number, FIRST_VERSION + number) for number in range(objects)],
        initial_events=[
            *(forms.added(number, FIRST_VERSION + number) for number in range(objects)),
            forms.bookmark(version),
        ],
        updates=changed,
        silence=objects / SETTLED_A_SECOND if found[4] else 0.0,
    )


def last_update(objects: int, updates: int) -> tuple[str, str]:
    """The name and the version of the last object that is updated."""
    return object_name((updates - 1) % objects), str(FIRST_VERSION + objects + updates)


# What the objects are


def config_map(namespace: str) -> dict[str, Any]:
    """A ConfigMap of exactly CONFIG_MAP_SIZE bytes."""
    data = {
        "log.level": "info",
        "database.url": "postgres://settings-db.shop.svc:5432/settings?sslmode=verify-full",
        "feature.flags": "checkout-v2,dark-mode,search-suggestions",
        "application.properties": "",
    }
    fields: dict[str, Any] = {"f:data": {".": {}, **{f"f:{key}": {} for key in data}}}
    described = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": metadata(namespace, fields),
        "data": data,
    }
    missing = CONFIG_MAP_SIZE - len(_json(described))
    data["application.properties"] = ("retries=3 timeout=250ms pool=16 " * 32)[:missing]
    return described


def pod(namespace: str) -> dict[str, Any]:
    """A pod of exactly POD_SIZE bytes, about half of it bookkeeping, as on real clusters."""
    names = ("web", "metrics")
    fields: dict[str, Any] = {
        "f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:shard": {}}},
        "f:spec": {
            "f:containers": {
                f'k:{{"name":"{name}"}}': {
                    **{f"f:{field}": {} for field in container(name)},
                    "f:terminationMessagePath": {},
                    "f:terminationMessagePolicy": {},
                }
                for name in names
            },
            **{f"f:{field}": {} for field in ("dnsPolicy", "restartPolicy", "volumes")},
        },
        "f:status": {
            "f:conditions": {
                f'k:{{"type":"{kind}"}}': {
                    ".": {},
                    **{f"f:{field}": {} for field in ("lastTransitionTime", "status", "type")},
                }
                for kind in CONDITIONS
            },
            **{
                f"f:{field}": {}
                for field in ("containerStatuses", "hostIP", "phase", "podIP", "startTime")
            },
        },
    }
    described = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata(namespace, fields),
        "spec": {
            "volumes": [
                {"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}},
                {"name": "secrets", "secret": {"secretName": "secrets", "defaultMode": 420}},
            ],
            "containers": [container(name) for name in names],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "shop",
            "nodeName": "node-17.example",
            "securityContext": {"runAsNonRoot": True, "fsGroup": 2000},
            "schedulerName": "default-scheduler",
            "tolerations": [
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
                for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
            ],
            "priority": 0,
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": CREATED}
                for kind in CONDITIONS
            ],
            "hostIP": "10.0.0.17",
            "podIP": "10.1.17.4",
            "podIPs": [{"ip": "10.1.17.4"}],
            "startTime": CREATED,
            "containerStatuses": [
                {
                    "name": name,
                    "state": {"running": {"startedAt": CREATED}},
                    "ready": True,
                    "restartCount": 0,
                    "image": f"registry.example/shop/{name}:1.42.0",
                    "imageID": f"registry.example/shop/{name}@sha256:{'5d' * 32}",
                    "containerID": f"containerd://{'7c' * 32}",
                    "started": True,
                }
                for name in names
            ],
            "qosClass": "Burstable",
        },
    }
    annotations = {"example.com/config-hash": ""}
    described["metadata"] = {**metadata(namespace, fields), "annotations": annotations}
    annotations["example.com/config-hash"] = "8f" * ((POD_SIZE - len(_json(described))) // 2)
    annotations["example.com/config-hash"] += "0" * (POD_SIZE - len(_json(described)))
    return described


def container(name: str) -> dict[str, Any]:
    """One container of the pod."""
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10}
    return {
        "name": name,
        "image": f"registry.example/shop/{name}:1.42.0",
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "env": [
            {"name": "LOG_LEVEL", "value": "info"},
            {
                "name": "DATABASE_PASSWORD",
                "valueFrom": {"secretKeyRef": {"name": "secrets", "key": "database-password"}},
            },
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "resources": {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "100m", "memory": "128Mi"},
        },
        "volumeMounts": [
            {"name": "settings", "readOnly": True, "mountPath": "/etc/settings"},
            {"name": "secrets", "readOnly": True, "mountPath": "/etc/secrets"},
        ],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "imagePullPolicy": "IfNotPresent",
    }


def metadata(namespace: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The metadata of any object, with marks where objects differ."""
    return {
        "name": f"settings-{NUMBER_MARK}",
        "namespace": namespace,
        "uid": f"7a1cb9a0-4f0c-4a2f-9d0c-3f1f0c2{NUMBER_MARK}",
        "resourceVersion": VERSION_MARK,
        "creationTimestamp": CREATED,
        "labels": {"app": "shop", "shard": "7"},
        "managedFields": [
            {
                "manager": "kubectl-create",
                "operation": "Update",
                "apiVersion": "v1",
                "time": CREATED,
                "fieldsType": "FieldsV1",
                "fieldsV1": fields,
            }
        ],
    }


DESCRIBED: Final[dict[str, Callable[[str], dict[str, Any]]]] = {"ConfigMap": config_map, "Pod": pod}


# How they are written


@dataclass(frozen=True, slots=True)
class Forms:
    """How one object is written where."""

    item: Encoded
    added: Encoded
    modified: Encoded
    bookmark: Callable[[int], bytes]


def json_forms(kind: str, described: dict[str, Any]) -> Forms:
    """The object as JSON."""

    def event(type_: str, content: dict[str, Any]) -> bytes:
        return _json({"type": type_, "object": content}) + b"\n"

    item = {key: value for key, value in described.items() if key not in {"kind", "apiVersion"}}
    end = _bookmark(kind)
    return Forms(
        item=_filled(_json(item)),
        added=_filled(event("ADDED", described)),
        modified=_filled(event("MODIFIED", described)),
        bookmark=lambda version: _with_version(event("BOOKMARK", end), version),
    )


def protobuf_forms(kind: str, described: dict[str, Any]) -> Forms:
    """The object as protobuf, in the frames of a watch; there are no lists."""

    def event(type_: str, content: dict[str, Any]) -> bytes:
        raw = _config_map_message(content)
        envelope = b"k8s\0" + _field(1, _field(1, "v1") + _field(2, kind)) + _field(2, raw)
        message = _field(1, type_) + _field(2, _field(1, envelope))
        return len(message).to_bytes(4, "big") + message

    if kind != "ConfigMap":
        raise ValueError(f"there is no {kind} in protobuf here")
    end = _bookmark(kind)
    return Forms(
        item=lambda _number, _version: b"",
        added=_filled(event("ADDED", described)),
        modified=_filled(event("MODIFIED", described)),
        bookmark=lambda version: _with_version(event("BOOKMARK", end), version),
    )


def _bookmark(kind: str) -> dict[str, Any]:
    meta = {"resourceVersion": VERSION_MARK, "annotations": {INITIAL_EVENTS_END: "true"}}
    return {"kind": kind, "apiVersion": "v1", "metadata": meta}


def _config_map_message(content: dict[str, Any]) -> bytes:
    return _field(1, _metadata_message(content["metadata"])) + _map_fields(2, content.get("data"))


def _metadata_message(content: dict[str, Any]) -> bytes:
    parts = [
        _field(number, content.get(name, ""))
        for number, name in ((1, "name"), (3, "namespace"), (5, "uid"), (6, "resourceVersion"))
    ]
    if "creationTimestamp" in content:
        parts.append(_field(8, _time_message()))
    parts.append(_map_fields(11, content.get("labels")))
    parts.append(_map_fields(12, content.get("annotations")))
    for entry in content.get("managedFields", ()):
        message = b"".join(
            (
                _field(1, entry["manager"]),
                _field(2, entry["operation"]),
                _field(3, entry["apiVersion"]),
                _field(4, _time_message()),
                _field(6, entry["fieldsType"]),
                _field(7, _field(1, _json(entry["fieldsV1"]))),
            )
        )
        parts.append(_field(17, message))
    return b"".join(parts)


def _time_message() -> bytes:
    return _varint(1 << 3) + _varint(CREATED_SECONDS)


def _map_fields(number: int, content: dict[str, str] | None) -> bytes:
    entries = (content or {}).items()
    return b"".join(_field(number, _field(1, key) + _field(2, value)) for key, value in entries)


def _field(number: int, content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _filled(marked: bytes) -> Encoded:
    """Replace the marks; name and uid come before the version in every form."""
    template = (
        marked.replace(b"%", b"%%")
        .replace(NUMBER_MARK.encode(), b"%05d")
        .replace(VERSION_MARK.encode(), b"%07d")
    )
    return lambda number, version: template % (number, number, version)


def _with_version(marked: bytes, version: int) -> bytes:
    return marked.replace(VERSION_MARK.encode(), b"%07d" % version)


def _json(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
