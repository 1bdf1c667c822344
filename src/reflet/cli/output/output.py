"""What a command prints: tables for people, YAML, JSON and names for programs.

Owns: the forms of output and how a table is laid out.  Must not know where objects come from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, TextIO

import click

GAP: Final = "   "
USUAL_COLUMNS: Final = 80
NARROWEST: Final = 12  # columns that a column keeps, whatever the others take
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
    import shutil  # noqa: PLC0415 - not needed for --help
    import sys  # noqa: PLC0415 - as above

    if not sys.stdout.isatty():
        return USUAL_COLUMNS
    return shutil.get_terminal_size((USUAL_COLUMNS, 24)).columns


def obeys_escapes(stream: TextIO) -> bool:
    """Whether this is a terminal that knows colours and a cursor."""
    import os  # noqa: PLC0415 - not needed for --help

    return stream.isatty() and os.environ.get("TERM") != "dumb"


def visible(text: str) -> str:
    """The text without power over a terminal: control characters are shown as escapes."""
    return CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def print_json(document: Any) -> None:
    """Print a document as JSON, indented as kubectl indents it."""
    click.echo(json.dumps(document, indent=4, ensure_ascii=False))


def print_yaml(document: Any) -> None:
    """Print a document as YAML, keys in order of the alphabet as kubectl prints them."""
    from reflet.api.yaml.text import write_yaml  # noqa: PLC0415 - YAML costs start-up time

    click.echo(write_yaml(document), nl=False)


def width_of(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - not needed for most tables

    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )
