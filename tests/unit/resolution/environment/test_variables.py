"""Variables as data: what is shown, and what a process is given."""

from __future__ import annotations

import pickle

import pytest

from reflet.resolution.environment.variables import Assignment, Environment, Variable, exact_bytes
from reflet.resolution.origins import SecretOrigin, ValueOrigin
from reflet.resolution.places import Place

PASSWORD = Assignment(
    value="hunter2",
    origin=SecretOrigin(namespace="shop", name="credentials", key="password"),
    place=Place(),
    sensitive=True,
)
PLAIN = Assignment(value="blue", origin=ValueOrigin(template="blue"), place=Place())
ENVIRONMENT = Environment(
    namespace="shop",
    pod="web-0",
    container="web",
    variables={
        "PASSWORD": Variable(name="PASSWORD", assignment=PASSWORD, shadows=(PLAIN,)),
        "COLOUR": Variable(name="COLOUR", assignment=PLAIN, shadows=(PASSWORD,)),
    },
)


def test_a_sensitive_value_is_shown_only_by_its_size() -> None:
    shown = f"{ENVIRONMENT!r} {PASSWORD.__rich_repr__()}"

    assert "hunter2" not in shown
    assert "‹secret 7 B›" in shown
    assert "blue" in shown


def test_a_variable_has_the_value_and_origin_of_the_assignment_that_counts() -> None:
    variable = ENVIRONMENT.variables["PASSWORD"]

    assert (variable.value, variable.origin, variable.sensitive) == (
        "hunter2",
        PASSWORD.origin,
        True,
    )


def test_values_keep_their_order() -> None:
    assert list(ENVIRONMENT.values.items()) == [("PASSWORD", "hunter2"), ("COLOUR", "blue")]


def test_an_environment_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(ENVIRONMENT)) == ENVIRONMENT


@pytest.mark.parametrize(
    ("text", "data"),
    [("é", b"\xc3\xa9"), ("\udcff", b"\xff"), ("\ud800a", b"\xef\xbf\xbda")],
)
def test_a_process_is_given_exact_bytes(text: str, data: bytes) -> None:
    assert exact_bytes(text) == data


def test_the_whole_environment_has_a_form_for_processes() -> None:
    assert ENVIRONMENT.encoded() == {b"PASSWORD": b"hunter2", b"COLOUR": b"blue"}
