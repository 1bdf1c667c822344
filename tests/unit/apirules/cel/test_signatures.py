from __future__ import annotations

import pytest

from reflet.apirules.cel.signatures import declare, overloads_of
from reflet.apirules.cel.types import Inference
from tests.unit.apirules.cel.expression_scene import VARIABLES


def test_a_signature_says_what_it_takes_and_gives() -> None:
    assert VARIABLES  # the functions are declared where expressions are compiled
    found = overloads_of("ip")
    assert found is not None
    method, function = found

    assert not method.is_method
    assert [str(kind) for kind in method.parameters] == ["string"]
    assert function.is_method
    assert (str(function.parameters[0]), str(function.result)) == ("net.CIDR", "net.IP")


def test_variables_are_fresh_in_every_call() -> None:
    found = overloads_of("distinct")
    assert found is not None
    overload = found[0]

    inference = Inference()
    first, second = overload.instance(inference), overload.instance(inference)

    assert first[0][0] == first[1]
    assert first[1] != second[1]


@pytest.mark.parametrize("text", ["nothing", "a(", "f(!) int"])
def test_what_is_no_signature_is_a_mistake(text: str) -> None:
    with pytest.raises(ValueError, match="no "):
        declare(text, len)
