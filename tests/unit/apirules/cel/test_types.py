from __future__ import annotations

import pytest

from reflet.apirules.cel.types import (
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Inference,
    Type,
    list_of,
    map_of,
    optional_of,
    wider,
)

ONE, OTHER = Type("object", name="One"), Type("object", name="Other")


@pytest.mark.parametrize(
    ("left", "right", "fits"),
    [
        (INT, INT, True),
        (INT, STRING, False),
        (INT, DYN, True),
        (list_of(INT), list_of(DYN), True),
        (list_of(INT), list_of(STRING), False),
        (map_of(STRING, INT), map_of(STRING, INT), True),
        (ONE, OTHER, False),
        (ONE, NULL, True),
        (TIMESTAMP, NULL, True),
        (INT, NULL, False),
        (optional_of(INT), INT, False),
        (Type("type", (INT,)), Type("type", (STRING,)), True),
    ],
)
def test_types_fit_or_not(left: Type, right: Type, fits: bool) -> None:
    assert Inference().assignable([left], [right]) is fits


def test_a_variable_stays_what_it_became() -> None:
    inference = Inference()
    variable = inference.variable()

    assert inference.assignable([list_of(variable)], [list_of(INT)])
    assert inference.resolved(variable) == INT
    assert not inference.assignable([variable], [STRING])
    assert inference.resolved(list_of(variable)) == list_of(INT)


def test_what_does_not_fit_teaches_nothing() -> None:
    inference = Inference()
    variable = inference.variable()

    assert not inference.assignable([variable, INT], [INT, STRING])
    assert inference.resolved(variable, final=True) == DYN


def test_a_type_is_never_inside_itself() -> None:
    inference = Inference()
    variable = inference.variable()

    assert not inference.assignable([variable], [list_of(variable)])


def test_the_wider_type_is_the_one_that_says_less() -> None:
    assert wider(list_of(INT), list_of(DYN)) == list_of(DYN)
    assert str(map_of(STRING, optional_of(INT))) == "map(string, optional_type(int))"
