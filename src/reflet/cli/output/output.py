"""What every command prints with: tables and paragraphs for people, YAML and JSON for programs.

Nothing that is printed has power over a terminal, and there is colour for people only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TextIO

import click

from reflet.cli import lazy

API_VERSION: Final = "reflet.dev/v1alpha1"
"""Of the documents that commands print for programs."""

GAP: Final = "   "
USUAL_COLUMNS: Final = 80
NARROWEST: Final = 12  # columns that a column keeps, whatever the others take
NARROWEST_REPORT: Final = 40  # columns; below that, the terminal may wrap as it likes
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, no_headers: bool
) -> None:
    """Print columns as wide as their widest cell, the last one open."""
    lines = [[visible(cell) for cell in row] for row in rows]
    if not no_headers:
        lines.insert(0, list(headings))
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell + " " * (width - width_of(cell)) for cell, width in zip(line, widths, strict=True)
        )
        click.echo(GAP.join(cells).rstrip())


def print_fitting_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, flexible: int, no_headers: bool
) -> None:
    """Print a table that fits the terminal, or 80 columns: one column gives way.

    A cell that is cut ends in an ellipsis; whoever needs all of it asks for another form.
    """
    lines = [[visible(cell) for cell in row] for row in rows]
    everything = [list(headings), *lines]
    widths = [max(map(width_of, column)) for column in zip(*everything, strict=True)]
    taken = sum(widths) - widths[flexible] + len(GAP) * (len(widths) - 1)
    room = max(columns() - taken, NARROWEST)
    for line in lines:
        line[flexible] = clipped(line[flexible], room)
    print_table(headings, lines, no_headers=no_headers)


def clipped(text: str, columns: int) -> str:
    """The text, or as much of it as fits, with an ellipsis."""
    if width_of(text) <= columns:
        return text
    shown, width = "", 1
    for character in text:
        width += width_of(character)
        if width > columns:
            break
        shown += character
    return f"{shown}…"


def columns() -> int:
    """How wide a line may be: as wide as the terminal, or as is usual."""
    if not sys.stdout.isatty():
        return USUAL_COLUMNS
    return shutil.get_terminal_size((USUAL_COLUMNS, 24)).columns


def obeys_escapes(stream: TextIO) -> bool:
    """Whether this is a terminal that knows colours and a cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def visible(text: str) -> str:
    """The text without power over a terminal: control characters are shown as escapes."""
    return CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def print_json(document: Any) -> None:
    """Print a document as JSON, indented as kubectl indents it."""
    click.echo(json.dumps(document, indent=4, ensure_ascii=False))


def print_yaml(document: Any) -> None:
    """Print a document as YAML, keys in order of the alphabet as kubectl prints them."""
    click.echo(lazy.yaml_text.write_yaml(document), nl=False)


def width_of(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def styled(text: str, **style: Any) -> str:
    """The text in colour, if it goes to a terminal that has any and NO_COLOR does not forbid it."""
    if obeys_escapes(sys.stdout) and not os.environ.get("NO_COLOR"):
        return click.style(text, **style)
    return text


def paragraph(text: str, *, first: str = "", indent: int = 0) -> list[str]:
    """Wrap a text; *first* stands before its first line, and all others are indented."""
    return textwrap.wrap(
        visible(" ".join(text.split())),
        width=max(NARROWEST_REPORT, min(USUAL_COLUMNS, columns())),
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
