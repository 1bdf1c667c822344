from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.priority_levels import check_priority_level
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

LEVELS = kind_of("prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io")
REJECT = {"limitResponse": {"type": "Reject"}}
OLDER = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"


def wrong_with(name: str = "x", *, notes: dict[str, str] | None = None, **spec: Any) -> list[str]:
    errors = FieldErrors()
    body = {"metadata": {"name": name, "annotations": notes or {}}, "spec": spec}
    check_priority_level(LEVELS, created(LEVELS, body), errors)
    return complaints(errors)


def wrong_with_queues(**queuing: int) -> list[str]:
    response = {"type": "Queue", "queuing": queuing}
    found = wrong_with(type="Limited", limited={"limitResponse": response})
    return [each.removeprefix("spec.limited.limitResponse.queuing.") for each in found]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("x", {"type": "Limited", "limited": REJECT}),
        ("exempt", {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 7}}),
        ("catch-all", {"type": "Limited", "limited": REJECT | {"nominalConcurrencyShares": 5}}),
    ],
)
def test_usual_levels_are_fine(name: str, spec: dict[str, Any]) -> None:
    assert wrong_with(name, **spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, ["spec.type: Required value"]),
        (
            {"type": "Limited", "exempt": {}},
            [
                "spec.exempt: Forbidden: must be nil if the type is Limited",
                "spec.limited: Required value: must not be empty when type is Limited",
            ],
        ),
        (
            {"type": "Limited", "limited": REJECT | {"lendablePercent": 101}},
            [
                (
                    "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, "
                    "inclusive"
                )
            ],
        ),
        (
            {"type": "Exempt", "exempt": {"nominalConcurrencyShares": -1}},
            [
                (
                    "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` "
                    "is 'exempt'"
                ),
                (
                    "spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a "
                    "non-negative integer"
                ),
            ],
        ),
        (
            {"type": "Limited", "limited": {"limitResponse": {"type": "Reject", "queuing": {}}}},
            [
                (
                    "spec.limited.limitResponse.queuing: Forbidden: must be nil if "
                    "limited.limitResponse.type is not Limited"
                )
            ],
        ),
        (
            {"type": "Limited", "limited": REJECT, "notes": {OLDER: ""}},
            [f"metadata.annotations: Forbidden: annotation '{OLDER}' is forbidden"],
        ),
    ],
)
def test_levels_that_contradict_themselves_are_refused(
    spec: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with(**spec) == wrong


@pytest.mark.parametrize(
    ("queuing", "wrong"),
    [
        ({"queues": 1024, "handSize": 6}, []),
        (
            {"queues": 1025, "handSize": 6},
            [
                (
                    "handSize: Invalid value: 6: required entropy bits of deckSize 1025 and "
                    "handSize 6 should not be greater than 60"
                )
            ],
        ),
        (
            {"queues": 2, "handSize": 3},
            ["handSize: Invalid value: 3: should not be greater than queues (2)"],
        ),
        (
            {"queues": 10_000_001, "handSize": 1},
            ["queues: Invalid value: 10000001: must not be greater than 10000000"],
        ),
        (
            {"queues": -1, "handSize": -1, "queueLengthLimit": -1},
            [
                f"{name}: Invalid value: -1: must be positive"
                for name in ("queueLengthLimit", "queues", "handSize")
            ],
        ),
    ],
)
def test_hands_are_dealt_from_decks_that_are_large_enough(
    queuing: dict[str, int], wrong: list[str]
) -> None:
    assert wrong_with_queues(**queuing) == wrong


def test_a_mandatory_level_is_as_the_server_wants_it() -> None:
    (wrong,) = wrong_with("catch-all", type="Limited", limited=REJECT)

    assert wrong == (
        'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,'
        '"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,'
        '"BorrowingLimitPercent":null},"Exempt":null}: spec of \'catch-all\' must equal the fixed '
        "value"
    )
