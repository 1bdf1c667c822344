"""Paragraphs of a report: wrapped, hanging under their labels, coloured for people only.

Owns: the width of reports and when there is colour.  Must not know what is reported.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from reflet.cli.output.output import columns, obeys_escapes, visible

WIDTH: Final = 80  # columns
NARROWEST: Final = 40  # below that, the terminal may wrap as it likes


def styled(text: str, **style: Any) -> str:
    """The text in colour, if it goes to a terminal that has any and NO_COLOR does not forbid it."""
    if obeys_escapes(sys.stdout) and not os.environ.get("NO_COLOR"):
        return click.style(text, **style)
    return text


def paragraph(text: str, *, first: str = "", indent: int = 0) -> list[str]:
    """Wrap a text; *first* stands before its first line, and all others are indented."""
    return textwrap.wrap(
        visible(" ".join(text.split())),
        width=max(NARROWEST, min(WIDTH, columns())),
        initial_indent=first,
        subsequent_indent=" " * (indent or len(first)),
        break_long_words=False,  # names are to be copied
        break_on_hyphens=False,
    )


def labelled(rows: Sequence[tuple[str, str]], *, indent: int = 0) -> Iterator[str]:
    """Yield the lines of several paragraphs, each with a label in a column of its own."""
    width = max((len(label) for label, _ in rows), default=0)
    for label, text in rows:
        yield from paragraph(text, first=f"{' ' * indent}{label:<{width}}  ")


def counted(number: int, noun: str) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
