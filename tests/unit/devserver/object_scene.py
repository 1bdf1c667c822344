"""Objects and surroundings for tests of what the server makes of objects."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from reflet.apirules.admission import Surroundings, prepare_create
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.service_allocation import ServiceAddresses
from reflet.apirules.strict_decoding import check_body
from reflet.apirules.validation.field_errors import FieldErrors

KINDS: Final = Kinds()
UID: Final = "11111111-1111-1111-1111-111111111111"


def kind_of(plural: str, group: str = "", version: str = "v1", kinds: Kinds = KINDS) -> ServedKind:
    found = kinds.by_resource(group, version, plural)
    assert found is not None
    return found


def surroundings(addresses: ServiceAddresses | None = None) -> Surroundings:
    return Surroundings(
        now=datetime(2020, 2, 3, 4, 5, 6, 789, tzinfo=UTC),
        new_uid=lambda: UID,
        chance=lambda _: 0,
        addresses=addresses or ServiceAddresses(),
    )


def created(kind: ServedKind, body: dict[str, Any], *, kinds: Kinds = KINDS) -> dict[str, Any]:
    """Give what a create would store."""
    document, _ = check_body(kind, body, kinds=kinds)
    namespace = "shop" if kind.namespaced else ""
    return prepare_create(kind, document, namespace=namespace, surroundings=surroundings())


def complaints(errors: FieldErrors) -> list[str]:
    return [f"{cause.field}: {cause.message}" for cause in errors.causes]


def pod_body(**spec: Any) -> dict[str, Any]:
    usual = {"containers": [{"name": "web", "image": "nginx"}]}
    return {"metadata": {"name": "x"}, "spec": usual | spec}


DEFINITION: Final[dict[str, Any]] = {
    "metadata": {"name": "gears.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {
            "plural": "gears",
            "singular": "gear",
            "kind": "Gear",
            "listKind": "GearList",
            "shortNames": ["gr"],
        },
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": False,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            },
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1, "default": 3},
                                    "replicas": {"type": "integer"},
                                    "free": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                    "labels": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["id"],
                                        "items": {
                                            "type": "object",
                                            "properties": {"id": {"type": "string"}},
                                        },
                                    },
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {"teeth": {"type": "integer"}},
                            },
                        },
                    }
                },
            },
        ],
    },
}
