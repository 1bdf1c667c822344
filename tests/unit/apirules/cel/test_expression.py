from __future__ import annotations

import pytest

from reflet.apirules.cel.expression import CompilationFailed, compile_expression
from reflet.apirules.cel.types import DYN, INT
from reflet.apirules.cel.values import OutOfBudget
from tests.unit.apirules.cel.expression_scene import value_of


def test_an_expression_is_compiled_once_and_evaluated_often() -> None:
    compiled = compile_expression("self + other", {"self": INT, "other": INT})

    values = [compiled.evaluate([number, 1], limit=100)[0] for number in (1, 2)]

    assert values == [2, 3]


def test_an_expression_knows_what_it_reads() -> None:
    compiled = compile_expression("self.all(x, x.matches('^a'))", {"self": DYN, "oldSelf": DYN})

    assert compiled.used == {"self"}
    assert compiled.patterns == ("^a",)


def test_a_refusal_shows_each_place_in_the_text() -> None:
    with pytest.raises(CompilationFailed) as failure:
        compile_expression("self > 1 &&\nself.x == y", {"self": INT})

    assert str(failure.value) == (
        "ERROR: <input>:2:5: type 'int' does not support field selection\n"
        " | self.x == y\n | ....^\n"
        "ERROR: <input>:2:11: undeclared reference to 'y' (in container '')\n"
        " | self.x == y\n | ..........^"
    )


def test_no_expression_takes_for_ever() -> None:
    with pytest.raises(OutOfBudget):
        value_of("self.all(x, self.all(y, self.all(z, x >= 0)))", self=list(range(10_000)))


def test_an_expression_that_is_too_deep_is_refused() -> None:
    with pytest.raises(CompilationFailed, match="recursion limit"):
        compile_expression("(" * 5000 + "1" + ")" * 5000, {})


def test_a_chain_of_hundreds_of_conditions_is_fine() -> None:
    assert value_of(" && ".join(["text == 'a'"] * 900), text="a") is True
