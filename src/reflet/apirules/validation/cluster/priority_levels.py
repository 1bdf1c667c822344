"""The rules of priority levels: shares of the server, queues, and hands that are dealt from them.

Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidatePriorityLevelConfiguration;
apiserver/pkg/util/shufflesharding/shufflesharding.go, RequiredEntropyBits
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.schemas import ANYTHING
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation.cluster.flow_schemas import CATCH_ALL, EXEMPT, check_flow_status
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import check_metadata
from reflet.apirules.validation.storage.internal_types import internal_view, is_same

Document = Mapping[str, Any]

_TYPES: Final = ("Exempt", "Limited")
_RESPONSES: Final = ("Queue", "Reject")
_MOST_QUEUES: Final = 10_000_000
_MOST_ENTROPY: Final = 60  # bits
# For the sake of an older version, which keeps shares of zero here.
_ANNOTATION: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_SHARES: Final = "must be a non-negative integer"
_MANDATORY: Final[Mapping[str, Document]] = {
    EXEMPT: {"type": "Exempt"},
    CATCH_ALL: {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 5,
            "lendablePercent": 0,
            "limitResponse": {"type": "Reject"},
        },
    },
}


def check_priority_level(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a priority level; two of them are as the server wants them or not at all."""
    metadata, spec = document["metadata"], document.get("spec") or {}
    check_metadata(kind, metadata, errors)
    if _ANNOTATION in (metadata.get("annotations") or {}):
        errors.forbidden("metadata.annotations", f"annotation '{_ANNOTATION}' is forbidden")
    name = metadata.get("name", "")
    _check_spec(name, spec, errors)
    if name in _MANDATORY:
        _check_mandatory(kind, name, spec, errors)
    check_flow_status(document, document, errors)


def _check_mandatory(kind: ServedKind, name: str, spec: Document, errors: FieldErrors) -> None:
    schema = kind.schema.field("spec") or ANYTHING
    shown, want = (internal_view(schema, each) for each in (spec, _MANDATORY[name]))
    have, but = shown, ""
    if name == EXEMPT:
        have, but = {**shown, "Exempt": None}, " except the 'spec.exempt' field"
    if not is_same(have, want):
        errors.invalid("spec", shown, f"spec of '{name}'{but} must equal the fixed value")


def _check_spec(name: str, spec: Document, errors: FieldErrors) -> None:
    kind, limited, exempt = spec.get("type", ""), spec.get("limited"), spec.get("exempt")
    if (name == EXEMPT) != (kind == "Exempt"):
        said = "must be 'Exempt' if and only if `name` is 'exempt'"
        errors.invalid("spec.type", Named(kind), said)
    if kind == "Exempt":
        if limited is not None:
            errors.forbidden("spec.limited", "must be nil if the type is not Limited")
        if exempt is not None:
            _check_shares(exempt, "spec.exempt", errors)
            _check_lendable(exempt, "spec.exempt", errors)
    elif kind == "Limited":
        if exempt is not None:
            errors.forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            errors.required("spec.limited", "must not be empty when type is Limited")
        else:
            _check_limited(limited, "spec.limited", errors)
    elif not kind:
        errors.required("spec.type")
    else:
        errors.not_supported("spec.type", kind, _TYPES)


def _check_shares(level: Document, path: str, errors: FieldErrors) -> None:
    shares = level.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        errors.invalid(f"{path}.nominalConcurrencyShares", shares, _SHARES)


def _check_lendable(level: Document, path: str, errors: FieldErrors) -> None:
    percent = level.get("lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        said = "must be between 0 and 100, inclusive"
        errors.invalid(f"{path}.lendablePercent", percent, said)


def _check_limited(limited: Document, path: str, errors: FieldErrors) -> None:
    _check_shares(limited, path, errors)
    _check_response(limited.get("limitResponse") or {}, f"{path}.limitResponse", errors)
    _check_lendable(limited, path, errors)
    borrowed = limited.get("borrowingLimitPercent")
    if borrowed is not None and borrowed < 0:
        said = "if specified, must be a non-negative integer"
        errors.invalid(f"{path}.borrowingLimitPercent", borrowed, said)


def _check_response(response: Document, path: str, errors: FieldErrors) -> None:
    kind, queuing = response.get("type", ""), response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            said = "must be nil if limited.limitResponse.type is not Limited"
            errors.forbidden(f"{path}.queuing", said)
    elif kind == "Queue":
        if queuing is None:
            said = "must not be empty if limited.limitResponse.type is Limited"
            errors.required(f"{path}.queuing", said)
        else:
            _check_queuing(queuing, f"{path}.queuing", errors)
    elif not kind:
        errors.required(f"{path}.type")
    else:
        errors.not_supported(f"{path}.type", kind, _RESPONSES)


def _check_queuing(queuing: Document, path: str, errors: FieldErrors) -> None:
    length, queues, hand = (
        queuing.get(name, 0) for name in ("queueLengthLimit", "queues", "handSize")
    )
    if length <= 0:
        errors.invalid(f"{path}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        errors.invalid(f"{path}.queues", queues, "must be positive")
    elif queues > _MOST_QUEUES:
        errors.invalid(f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}")
    if hand <= 0:
        errors.invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        said = f"should not be greater than queues ({queues})"
        errors.invalid(f"{path}.handSize", hand, said)
    elif math.ceil(math.log2(queues) * hand) > _MOST_ENTROPY:
        said = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be "
            f"greater than {_MOST_ENTROPY}"
        )
        errors.invalid(f"{path}.handSize", hand, said)
