"""Chooses the form of the OpenAPI 2 document by a client's ``Accept``.

Upstream: k8s.io/kube-openapi/pkg/handler/handler.go; github.com/munnerz/goautoneg/autoneg.go
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

OPENAPI_JSON: Final = "application/json"
OPENAPI_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

# By the subtypes of "application" that are asked for, the one for anything first; kubectl says
# the last, which is no well-formed name, so the answer does not.
_FORMS: Final = {
    "json": OPENAPI_JSON,
    "com.github.proto-openapi.spec.v2.v1.0+protobuf": OPENAPI_PROTOBUF,
    "com.github.proto-openapi.spec.v2@v1.0+protobuf": OPENAPI_PROTOBUF,
}


class _Clause(NamedTuple):
    type: str
    subtype: str
    weight: float

    def precedes(self, other: _Clause) -> bool:
        return (
            self.weight > other.weight
            or (self.type != "*" and other.type == "*")
            or (self.subtype != "*" and other.subtype == "*")
        )


def openapi_form(accept: str) -> str | None:
    """Give the content type of the form that a client likes best; None if it takes neither."""
    for clause in _ordered(accept or "*/*"):
        for subtype, form in _FORMS.items():
            if clause.type in {"application", "*"} and clause.subtype in {subtype, "*"}:
                return form
    return None


def _ordered(accept: str) -> list[_Clause]:
    """Order clauses as the real server does, which is no order: it depends on how they came.

    A clause goes before those just ahead of it that it outweighs, or that have a wildcard where
    it has none, whatever they weigh.  No weight refuses a form, not even 0.
    """
    ordered: list[_Clause] = []
    for text in accept.split(","):
        media_type, *parameters = text.split(";")
        parts = [part.strip(" ") for part in media_type.split("/")]
        if parts == ["*"]:
            parts = ["*", "*"]
        if len(parts) != 2:
            continue
        clause = _Clause(parts[0], parts[1], _weight(parameters))
        place = len(ordered)
        while place and clause.precedes(ordered[place - 1]):
            place -= 1
        ordered.insert(place, clause)
    return ordered


def _weight(parameters: Iterable[str]) -> float:
    weight = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip(" ") == "q" and value:
            try:
                weight = float(value)
            except ValueError:
                weight = 0.0
    return weight
