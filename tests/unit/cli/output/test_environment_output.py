"""Other programs read back exactly the values that were written, or get none."""

from __future__ import annotations

import subprocess
from typing import Final

import pytest

from reflet.cli.output.environment_output import CannotBeWritten, written
from reflet.resolution.environment.variables import Assignment, Environment, Variable
from reflet.resolution.origins import ValueOrigin
from reflet.resolution.places import Place

NASTY: Final = (
    *("", "plain", "with space", "tab\there", "'single'", '"double"', "both ' and \""),
    *("$HOME", "$(NAME)", "`whoami`", "back\\slash", "two\nlines\n", "# no comment", "é …"),
)


def environment(
    values: dict[str, str], *, sensitive: bool = False, known: bool = True
) -> Environment:
    variables = {
        name: Variable(
            name=name,
            assignment=Assignment(
                value=value,
                origin=ValueOrigin(),
                place=Place(),
                sensitive=sensitive,
                known=known,
            ),
        )
        for name, value in values.items()
    }
    return Environment(namespace="shop", pod="web", container="web", variables=variables)


@pytest.mark.parametrize("value", [*NASTY, "not \udcff text"])
def test_a_shell_reads_back_what_was_written(value: str) -> None:
    script = written(environment({"V": value}), "sh", reveal=False)

    said = subprocess.run(
        ["/bin/sh", "-c", script + b'printf %s "$V"'], capture_output=True, check=True
    )

    assert said.stdout.decode(errors="surrogateescape") == value


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("plain/1.2:x", "V=plain/1.2:x"),
        ("", "V="),
        ("with space", "V='with space'"),
        ("$HOME", "V='$HOME'"),
        ("two\nlines", "V='two\nlines'"),
        ("it's", 'V="it\'s"'),
        ('it\'s "$x"\n', 'V="it\'s \\"\\$x\\"\n"'),
        ("it's `date`", 'V="it\'s \\`date\\`"'),
        ("back\\slash", "V='back\\slash'"),
        ("C:\\", 'V="C:\\\\"'),
    ],
)
def test_dotenv_quotes_only_what_needs_it(value: str, line: str) -> None:
    assert written(environment({"V": value}), "dotenv", reveal=False).decode() == f"{line}\n"


def test_docker_takes_values_as_they_are() -> None:
    values = environment({"A": " \"quoted\" $x 'y' # z ", "B": ""})

    assert written(values, "docker", reveal=False).decode() == "A= \"quoted\" $x 'y' # z \nB=\n"


def test_docker_cannot_have_several_lines_and_the_variable_is_named() -> None:
    with pytest.raises(CannotBeWritten) as caught:
        written(environment({"A": "1", "MOTD": "two\nlines"}), "docker", reveal=False)

    assert str(caught.value) == (
        "variable MOTD has several lines, and docker's --env-file has no way to write them: "
        "use -o sh or -o json"
    )


@pytest.mark.parametrize("form", ["dotenv", "sh", "docker"])
def test_a_zero_byte_is_refused_by_name(form: str) -> None:
    with pytest.raises(CannotBeWritten, match="variable ZERO has a zero byte"):
        written(environment({"ZERO": "a\0b"}), form, reveal=False)


@pytest.mark.parametrize("name", ["with space", "#comment", "new\nline"])
def test_a_name_that_docker_would_read_as_something_else_is_refused(name: str) -> None:
    with pytest.raises(CannotBeWritten, match="is no name for a variable in"):
        written(environment({name: "x"}), "docker", reveal=False)


@pytest.mark.parametrize("name", ["with space", "#comment", "new\nline", "$(touch${IFS}x)", "a;b"])
def test_a_name_that_a_shell_might_run_becomes_a_comment_of_dotenv(name: str) -> None:
    (line,) = written(environment({name: "x"}), "dotenv", reveal=False).decode().splitlines()

    assert line.startswith("# ")
    assert line.endswith(": left out, no name for a variable in a dotenv file")


def test_a_name_that_no_shell_has_becomes_a_comment() -> None:
    text = written(environment({"my.name": "x", "new\nline": "y"}), "sh", reveal=False).decode()

    assert text == (
        "# my.name: left out, a shell has no variable of that name\n"
        "# new?line: left out, a shell has no variable of that name\n"
    )


@pytest.mark.parametrize("form", ["dotenv", "sh", "docker"])
def test_secrets_are_left_out_unless_they_may_be_shown(form: str) -> None:
    secret = environment({"PASSWORD": "geheim"}, sensitive=True)

    assert b"geheim" not in written(secret, form, reveal=False)
    assert b"geheim" in written(secret, form, reveal=True)


@pytest.mark.parametrize("form", ["dotenv", "sh", "docker"])
def test_what_is_not_known_is_left_out_even_when_all_may_be_shown(form: str) -> None:
    text = written(environment({"IP": ""}, known=False), form, reveal=True).decode()

    assert text == "# IP: left out, its value is known only in a running pod\n"
