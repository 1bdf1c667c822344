from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.batch.outcomes import check_failure_policy, check_success_policy
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

VALUES = "p.rules[0].onExitCodes.values"
INDEXED = {"completionMode": "Indexed", "completions": 5}


def failures(*rules: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    template = {"spec": {"containers": [{"name": "web"}]}}
    spec = {"podFailurePolicy": {"rules": list(rules)}, "template": template}
    check_failure_policy(spec, "p", errors)
    return complaints(errors)


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        (
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3, 1]}},
            [f"{VALUES}: Invalid value: [3,1]: must be ordered"],
        ),
        (
            {"action": "Count", "onExitCodes": {"operator": "In", "values": [0]}},
            [f"{VALUES}[0]: Invalid value: 0: must not be 0 for the In operator"],
        ),
        (
            {"action": "Ignore"},
            [
                (
                    "p.rules[0]: Invalid value: specifying one of OnExitCodes and "
                    "OnPodConditions is required"
                )
            ],
        ),
        (
            {"action": "FailIndex", "onPodConditions": [{"type": "a", "status": "True"}]},
            [
                (
                    'p.rules[0].action: Invalid value: "FailIndex": requires the '
                    "backoffLimitPerIndex to be set"
                )
            ],
        ),
    ],
)
def test_failures_have_their_rules(rule: dict[str, Any], wrong: list[str]) -> None:
    assert failures(rule) == wrong


def successes(spec: dict[str, Any], *rules: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_success_policy(spec | {"successPolicy": {"rules": list(rules)}}, "p", errors)
    return complaints(errors)


def test_indexes_are_counted() -> None:
    assert successes(INDEXED, {"succeededIndexes": "0,2-4", "succeededCount": 4}) == []
    assert (
        "must be less than or equal to 1 (the number of indexes"
        in (successes(INDEXED, {"succeededIndexes": "0", "succeededCount": 2})[0])
    )
    assert "too large index" in successes(INDEXED, {"succeededIndexes": "3-9"})[0]


def test_success_needs_indexes_and_a_rule() -> None:
    assert "requires indexed completion mode" in successes({}, {"succeededCount": 1})[0]
    assert successes(INDEXED)[0].startswith("p.rules: Required value")
