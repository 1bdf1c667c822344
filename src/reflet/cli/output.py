"""What a command prints: tables for people, YAML, JSON and names for programs.

Owns: the forms of output and how a table is laid out.  Must not know where objects come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

GAP: Final = "   "


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, no_headers: bool
) -> None:
    """Print columns as wide as their widest cell, the last one open."""
    lines = [list(row) for row in rows]
    if not no_headers:
        lines.insert(0, list(headings))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(GAP.join(cells).rstrip())


def print_json(document: Any) -> None:
    """Print a document as JSON, indented as kubectl indents it."""
    click.echo(json.dumps(document, indent=4, ensure_ascii=False))


def print_yaml(document: Any) -> None:
    """Print a document as YAML, keys in order of the alphabet as kubectl prints them."""
    from reflet.api.yaml_text import write_yaml  # noqa: PLC0415 - YAML costs start-up time

    click.echo(write_yaml(document), nl=False)
