from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.gated_changes import check_gated_changes
from reflet.apirules.validation.podspecs.placement import REQUIRED

GATES = [{"name": "wait"}]


def nodes(*keys: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"nodeSelector": {"a": "b", "c": "d"}}, []),
        ({"nodeSelector": {"a": "c"}}, ["spec.nodeSelector"]),
        ({"affinity": nodes("a", "b")}, []),
        ({"affinity": nodes("b")}, [f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"]),
        ({"affinity": None}, [f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"]),
    ],
)
def test_a_pod_that_waits_may_ask_for_more(change: dict[str, Any], wrong: list[str]) -> None:
    before = {"schedulingGates": GATES, "nodeSelector": {"a": "b"}, "affinity": nodes("a")}
    errors = FieldErrors()

    settled = check_gated_changes(before | change, before, errors)

    assert [cause.field for cause in errors.causes] == wrong
    assert settled == before


def test_a_pod_that_does_not_wait_is_left_as_it_is() -> None:
    spec, errors = {"nodeSelector": {"a": "c"}}, FieldErrors()

    assert check_gated_changes(spec, {"nodeSelector": {"a": "b"}}, errors) == spec
    assert not errors
