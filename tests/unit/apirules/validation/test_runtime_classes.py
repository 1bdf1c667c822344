from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.runtime_classes import (
    check_runtime_class,
    check_runtime_class_change,
)

TOLERATION = {"key": "a", "operator": "Exists"}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, []),
        ({"handler": ""}, ["handler"]),
        ({"handler": "A.b"}, ["handler"]),
        ({"overhead": {"podFixed": {"cpu": "-1"}}}, ["overhead.limits[cpu]"]),
        ({"scheduling": {"nodeSelector": {"a b": "c"}}}, ["scheduling.nodeSelector"]),
        ({"scheduling": {"tolerations": [TOLERATION] * 2}}, ["scheduling.tolerations[1]"]),
    ],
)
def test_runtime_classes_have_their_rules(fields: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_runtime_class({"handler": "gvisor"} | fields, errors)

    assert [cause.field for cause in errors.causes] == wrong


def test_a_class_keeps_its_handler() -> None:
    errors = FieldErrors()

    check_runtime_class_change({"handler": "b"}, {"handler": "a"}, errors)

    assert [cause.field for cause in errors.causes] == ["handler"]
