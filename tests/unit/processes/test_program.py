"""A description of what to run says nothing that is secret."""

from __future__ import annotations

import pytest

from reflet.processes.program import NotStarted, Program


def test_neither_arguments_nor_environment_are_shown() -> None:
    program = Program(["sh", "-c", "hunter2"], {"PASSWORD": "hunter2"})

    assert "hunter2" not in repr(program)


@pytest.mark.parametrize(
    ("program", "code", "words"),
    [
        (Program([], {}), 127, "the command is empty"),
        (Program([""], {}), 127, "the command is empty"),
        (Program(["a", "hunter2\0"], {}), 125, "argument 1 of the command has a NUL"),
        (Program(["a"], {"A": "hunter2\0"}), 125, "the variable 'A'"),
        (Program(["a"], {"A=B": "hunter2"}), 125, "the variable 'A=B'"),
        (Program(["a"], {"": "hunter2"}), 125, "the variable ''"),
    ],
)
def test_what_no_system_could_start_is_refused_without_its_values(
    program: Program, code: int, words: str
) -> None:
    with pytest.raises(NotStarted) as refused:
        program.check()

    assert refused.value.exit_code == code
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_bytes_that_are_no_text_are_given_as_they_are() -> None:
    program = Program(["sh"], {"A": b"\xff\xfe\xc3\xa4".decode(errors="surrogateescape")})

    assert program.encoded_environment() == {b"A": b"\xff\xfe\xc3\xa4"}
