"""Every error that Reflet raises, from the classes themselves.

Owns: the order and form of the list.  What an error promises stands in its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from reflet import errors
from reflet.cli.main import exit_code


def markdown() -> str:
    """Draw the tree, then say what each error promises."""
    drawing = list(_drawn(errors.RefletError, ""))
    table = ["| error | what happened | exit code |", "|---|---|---|"]
    for error in tree(errors.RefletError):
        promise = inspect.cleandoc(error.__doc__ or "").partition("\n\n")[0]
        table.append(f"| `{error.__name__}` | {_in_a_cell(promise)} | {_exit_code(error)} |")
    return "\n".join(["```text", "RefletError", *drawing, "```", "", *table])


def tree(error: type[errors.RefletError]) -> Iterator[type[errors.RefletError]]:
    """The error and all that are special cases of it, each before its own."""
    yield error
    for special in _special(error):
        yield from tree(special)


def _drawn(error: type[errors.RefletError], margin: str) -> Iterator[str]:
    below = _special(error)
    for special in below:
        is_last = special is below[-1]
        yield f"{margin}{'└' if is_last else '├'}── {special.__name__}"
        yield from _drawn(special, f"{margin}{' ' if is_last else '│'}   ")


def _special(error: type[errors.RefletError]) -> list[type[errors.RefletError]]:
    return [found for found in error.__subclasses__() if found.__module__ == errors.__name__]


def _in_a_cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


def _exit_code(error: type[errors.RefletError]) -> int:
    # The code follows from the class alone; an instance of it needs no facts for that.
    return exit_code(error.__new__(error))
