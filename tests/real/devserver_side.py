"""What the development server makes of a request, without a server: the pure part of it.

Owns: putting the parts together in the order in which the server uses them, and bringing both
servers' answers into a form that can be compared.  Must not know pytest.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from reflet.apirules.admission import Surroundings, prepare_create, prepare_update
from reflet.apirules.refusals import status_document
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.service_allocation import ServiceAddresses
from reflet.apirules.strict_decoding import check_body, read_json
from reflet.apirules.validation.by_kind import validate_create, validate_update
from reflet.errors import ApiError
from tests.real.access_rules import IDENTITIES

REAL_NETWORK: Final = "10.0.0.0/24"  # as tests/real/kube_server.py starts the real one
REAL_REQUESTER: Final = {
    "username": IDENTITIES["admin"].user,
    "uid": "admin",
    "groups": [*IDENTITIES["admin"].groups, "system:authenticated"],
}
_UID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GENERATED: Final = re.compile(r"((?:made|Upper)-)[bcdfghjklmnpqrstvwxz2456789]{5}")
_TIMES: Final = frozenset(
    {"creationTimestamp", "lastPhaseTransitionTime", "lastTransitionTime", "lastUpdateTime"}
)
_CHOSEN: Final = frozenset({"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The code, and the object or the Status."""

    code: int
    body: Any


class DevServerSide:
    """The parts of the development server that decide what an object becomes."""

    def __init__(self) -> None:
        self.kinds = Kinds()
        self.surroundings = Surroundings(
            now=datetime(2020, 1, 1, tzinfo=UTC),
            new_uid=lambda: "11111111-1111-1111-1111-111111111111",
            chance=lambda _: 0,
            addresses=ServiceAddresses(REAL_NETWORK),
            requester=REAL_REQUESTER,
        )

    def kind_of(self, path: str) -> tuple[ServedKind, str]:
        """Find the kind and the namespace that a collection's path means."""
        parts = path.partition("?")[0].strip("/").split("/")
        group, version, rest = (
            ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
        )
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 2 else ""
        kind = self.kinds.by_resource(group, version, rest[-1])
        if kind is None:
            raise LookupError(path)
        return kind, namespace

    def create(self, path: str, body: object, *, validation: str = "") -> Outcome:
        """Say what a POST would answer."""
        kind, namespace = self.kind_of(path)
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            document, _ = check_body(
                kind,
                read_json(kind, raw),
                kinds=self.kinds,
                field_validation=validation,
                raw=raw,
            )
            made = prepare_create(
                kind, document, namespace=namespace, surroundings=self.surroundings
            )
            validate_create(kind, made)
        except ApiError as refusal:
            return Outcome(refusal.code, status_document(refusal))
        return Outcome(201, made)

    def update(
        self, path: str, old: Any, body: object, *, subresource: str = "", validation: str = ""
    ) -> Outcome:
        """Say what a PUT over ``old`` would answer."""
        kind, namespace = self.kind_of(path)
        raw = json.dumps(body).encode()
        try:
            document, _ = check_body(
                kind,
                read_json(kind, raw),
                kinds=self.kinds,
                field_validation=validation,
                raw=raw,
            )
            made = prepare_update(
                kind,
                old,
                document,
                namespace=namespace,
                subresource=subresource,
                surroundings=self.surroundings,
            )
            validate_update(kind, old, made, subresource=subresource)
        except ApiError as refusal:
            return Outcome(refusal.code, status_document(refusal))
        return Outcome(200, made)


def comparable(body: Any) -> Any:
    """Take out what differs between any two servers: uids, times, versions, random names."""
    text = _GENERATED.sub(r"\1xxxxx", _UID.sub("uid", json.dumps(body)))
    document = json.loads(text)
    if isinstance(document, dict):
        document.get("metadata", {}).pop("resourceVersion", None)
        document.get("metadata", {}).pop("managedFields", None)
    return _without_times(document)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_times(_address(inner) if name in _CHOSEN else inner)
            for name, inner in value.items()
            if name not in _TIMES
        }
    if isinstance(value, list):
        return [_without_times(inner) for inner in value]
    return value


def _address(value: Any) -> Any:
    if isinstance(value, list):
        return [_address(inner) for inner in value]
    return value if value == "None" else "chosen"
