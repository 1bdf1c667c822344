from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.values import EvaluationError
from tests.unit.apirules.cel.expression_scene import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("isQuantity('1.5Gi') && !isQuantity('x')", True),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True),
        ("quantity('1').isLessThan(quantity('1000m'))", False),
        ("quantity('1').compareTo(quantity('2')) + sign(quantity('-3'))", -2),
        ("quantity('2k').asInteger()", 2000),
        ("quantity('200m').isInteger()", False),
        ("quantity('200m').asApproximateFloat()", 0.2),
        ("quantity('1').add(quantity('1')).sub(3).add(1) == quantity('0')", True),
        ("isSemver('1.2.3-rc.1+b') && !isSemver('1.2') && !isSemver('01.2.3')", True),
        ("!isSemver('1.2.3-01') && isSemver('v1.02', true)", True),
        (
            "semver('1.2.3').major() + semver('1.2.3').minor() * semver('1.2.3').patch()",
            7,
        ),
        ("semver('1.2.3-rc.10').isGreaterThan(semver('1.2.3-rc.9'))", True),
        ("semver('1.2.3-rc').isLessThan(semver('1.2.3'))", True),
        ("semver('v1', true).compareTo(semver('1.0.0'))", 0),
        ("format.dns1123Label().validate('my-name').hasValue()", False),
        ("format.dns1123Label().validate('My').value().size()", 1),
        ("format.dns1123LabelPrefix().validate('my-').hasValue()", False),
        ("format.named('uuid').value().validate('x').value()", ["does not match the UUID format"]),
        ("format.named('nothing').hasValue()", False),
        ("format.date().validate('2024-02-30').hasValue()", True),
        (
            "format.uri().validate('x').hasValue() && !format.byte().validate('YQ==').hasValue()",
            True,
        ),
    ],
)
def test_what_kubernetes_knows_is_known(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quantity('x')", "quantities must match the regular expression"),
        ("quantity('100m').asInteger()", "cannot convert value to integer"),
        ("semver('1.2')", "No Major.Minor.Patch elements found"),
        ("semver('1.2.x')", "Invalid version"),
        ("semver('1-rc', true)", "short version cannot contain PreRelease"),
    ],
)
def test_what_is_none_of_them_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text)
