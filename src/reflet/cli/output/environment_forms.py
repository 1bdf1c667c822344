"""An environment as text that other programs read: dotenv, shell and Docker.

Owns: the quoting of each form, and that nobody gets a value that is not meant for the screen or
not known.  Must not know where the environment comes from.

Secret values, unless they may be revealed, and values that are not known become comments: a
mask in their place would be taken for the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from reflet.errors import RefletError
from reflet.resolution.variables import Environment, Variable, exact_bytes

_BARE: Final = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_SHELL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "\\$", "\n": "\\n", "\r": "\\r"})


class CannotBeWritten(RefletError):
    """A variable that the form has no way to write; the message names it."""


def written(environment: Environment, form: str, *, reveal: bool) -> bytes:
    """Return the environment in a form of ``FORMS``.

    Raises CannotBeWritten, which names the variable.
    """
    lines = _lines(environment, FORMS[form], reveal=reveal)
    return b"".join(exact_bytes(f"{line}\n") for line in lines)


def _lines(
    environment: Environment, line: Callable[[str, str], str], *, reveal: bool
) -> Iterator[str]:
    for name, variable in environment.variables.items():
        left_out = _reason(variable, reveal=reveal)
        yield f"# {_one_line(name)}: {left_out}" if left_out else line(name, variable.value)


def _reason(variable: Variable, *, reveal: bool) -> str:
    if not variable.assignment.known:
        return "left out, its value is known only in a running pod"
    if variable.sensitive and not reveal:
        return "left out, its value is secret: use --reveal"
    return ""


def _dotenv(name: str, value: str) -> str:
    _check_name(name, "a dotenv file")
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no file of variables holds")
    if _BARE.fullmatch(value):
        return f"{name}={value}"
    # Single quotes mean the text itself to every reader; what they cannot hold is escaped.
    if "'" not in value and "\\" not in value:
        return f"{name}='{value}'"
    return f'{name}="{value.translate(_ESCAPED)}"'


def _shell(name: str, value: str) -> str:
    if not _SHELL_NAME.fullmatch(name):
        return f"# {_one_line(name)}: left out, a shell has no variable of that name"
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no shell holds")
    quoted = value.replace("'", "'\\''")
    return f"export {name}='{quoted}'"


def _docker(name: str, value: str) -> str:
    _check_name(name, "docker's --env-file")
    if "\n" in value or "\r" in value:
        raise CannotBeWritten(
            f"variable {name} has several lines, and docker's --env-file has no way to write "
            "them: use -o sh or -o json"
        )
    if "\0" in value:
        raise CannotBeWritten(f"variable {name} has a zero byte, which no file of variables holds")
    return f"{name}={value}"


def _check_name(name: str, where: str) -> None:
    if not name or name.startswith("#") or re.search(r"[\s='\"]", name):
        raise CannotBeWritten(f"{_one_line(name)!r} is no name for a variable in {where}")


def _one_line(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


FORMS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "dotenv": _dotenv,
    "sh": _shell,
    "docker": _docker,
}
