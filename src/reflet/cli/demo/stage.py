"""Where a demonstration is shown: a table that is redrawn on a terminal, lines elsewhere.

Owns: titles, the live table and its rows.  Must not know what is told.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

import click

from reflet.cli.output.output import clipped, columns, obeys_escapes, visible, width_of
from reflet.cli.output.report_text import styled

GAP: Final = 3
_UP: Final = "\x1b[{}A"
_REST_OF_SCREEN: Final = "\x1b[J"


def title(text: str) -> None:
    """Begin a scene."""
    click.echo(f"\n{styled(f'── {text}', bold=True)}\n")


class LiveTable:
    """Rows by their first cell.

    On a terminal the table stays where it is and changes; elsewhere a row is printed whenever it
    is a new one.
    """

    def __init__(self, headings: tuple[str, ...], *, widths: tuple[int, ...]) -> None:
        self._headings = headings
        self._widths = widths
        self._shown: dict[str, tuple[str, ...]] = {}
        self._lines = 0

    def show(self, rows: Mapping[str, tuple[str, ...]]) -> None:
        """Show these rows; those that are shown already cost nothing."""
        if rows == self._shown:
            return
        if obeys_escapes(sys.stdout):
            if self._lines:
                click.echo(_UP.format(self._lines) + _REST_OF_SCREEN, nl=False)
            lines = [self._line(self._headings), *(self._line((k, *v)) for k, v in rows.items())]
            click.echo("\n".join(lines))
            self._lines = len(lines)
        else:
            if not self._shown:
                click.echo(self._line(self._headings))
            for key, row in rows.items():
                if self._shown.get(key) != row:
                    click.echo(self._line((key, *row)))
        self._shown = dict(rows)

    def _line(self, cells: tuple[str, ...]) -> str:
        padded = []
        for cell, width in zip(cells, self._widths, strict=True):
            text = visible(cell)
            padded.append(text + " " * max(width - width_of(text), 0))
        # A line that wraps would be two, and the next drawing would begin too low.
        return clipped((" " * GAP).join(padded).rstrip(), columns())
