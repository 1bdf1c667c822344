"""The colours of the terminal: which meaning has which, and whether there are any.

There are some on a terminal, and where somebody asks for them: ``--color``, then NO_COLOR, then
FORCE_COLOR or CLICOLOR_FORCE decide, in this order.  A pipe gets none unless it is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Final, Literal, TextIO

import click

Meaning = Literal["wrong", "good", "caution", "note", "name", "dim", "title"]
"""What is wrong; a fix, and what is live; what needs a restart; a remark; the name of an object;
where something comes from, and masks; a heading."""

STYLES: Final[Mapping[Meaning, Mapping[str, Any]]] = {
    "wrong": {"fg": "red", "bold": True},
    "good": {"fg": "green"},
    "caution": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "name": {"fg": "cyan"},
    "dim": {"dim": True},
    "title": {"bold": True},
}

LEVELS: Final[Mapping[str, Meaning]] = {"error": "wrong", "warning": "caution", "note": "note"}
"""The levels of messages and findings, worst first."""

CHOICES: Final = ("auto", "always", "never")
_FORCING: Final = ("FORCE_COLOR", "CLICOLOR_FORCE")

_choice = "auto"


def choose(choice: str) -> None:
    """Take one of ``CHOICES`` for everything that this process prints from now on."""
    global _choice  # noqa: PLW0603 - one process has one command line, and two streams share it
    _choice = choice


def decided() -> bool | None:
    """Whether there are colours whatever the stream is; None when the stream decides."""
    if _choice != "auto":
        return _choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in {"", "0"} for name in _FORCING):
        return True
    return None


def has_colour(stream: TextIO) -> bool:
    """Whether what is printed there may be in colour."""
    decision = decided()
    return obeys_escapes(stream) if decision is None else decision


def obeys_escapes(stream: TextIO) -> bool:
    """Whether this is a terminal that knows colours and a cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, meaning: Meaning | None, *, err: bool = False) -> str:
    """The text in the colour of its meaning, if stdout, or with *err* stderr, has any."""
    if meaning is None or not text or not has_colour(sys.stderr if err else sys.stdout):
        return text
    return click.style(text, **STYLES[meaning])
