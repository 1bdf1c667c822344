"""Bars as SVG: a picture that a browser shows, that diffs well and that needs no library.

Owns: the layout.  Must not know what is compared.

Colours follow the reader's light or dark scheme; numbers stand beside the bars, so that nobody
has to measure with a ruler.  Names stand above them, and the whole is narrow, so that letters are
still ten pixels high where a phone shows it at its own width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final
from xml.sax.saxutils import escape

NAMESPACE: Final = "http://www.w3.org/2000/svg"
WIDTH: Final = 480
NUMBERS: Final = 130  # pixels for the numbers
LINE: Final = 18
BAR: Final = 12
GAP: Final = 10
# Letters that fit into a line of each font.
TITLE_LETTERS: Final = 48
LETTERS: Final = 62

STYLE: Final = """
text { font: 14px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 16px }
.faint { fill: #6e7781 }
.bar { fill: #8c959f }
.ours { fill: #0969da }
.limit { fill: #d0d7de }
.range { stroke: #24292f; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .faint { fill: #8d96a0 }
  .bar { fill: #6e7681 }
  .ours { fill: #4493f8 }
  .limit { fill: #3d444d }
  .range { stroke: #e6edf3 }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: ``kind`` is ``ours``, ``limit`` for what nobody can beat, or ``peer``.

    ``low`` and ``high`` are the range, if there is one.  ``note`` stands behind the number.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: str = "peer"
    note: str = ""


def bar_chart(title: str, unit: str, bars: Sequence[Bar], *, digits: int = 1) -> str:
    """Draw the bars below their names, each as long as its value, from zero on.

    A value below zero is written out beside a bar without length.
    """
    head, top = heading(title, unit)
    rows, height = _rows(bars, digits, top)
    return picture(title, STYLE, [*head, *rows], height)


def heading(title: str, unit: str) -> tuple[list[str], int]:
    """Draw title and unit, in as many lines as they need; give where what follows begins."""
    lines = [("title", part) for part in wrap(title, TITLE_LETTERS)]
    lines += [("faint", part) for part in wrap(unit, LETTERS)]
    drawn = [
        f'<text class="{name}" x="0" y="{16 + LINE * number}">{escape(part)}</text>'
        for number, (name, part) in enumerate(lines)
    ]
    return drawn, 16 + LINE * len(lines)


def picture(title: str, style: str, drawn: Sequence[str], height: int) -> str:
    """Put what is drawn into a picture."""
    lines = [
        f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        *drawn,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _rows(bars: Sequence[Bar], digits: int, top: int) -> tuple[list[str], int]:
    longest = max((max(bar.value, bar.high or 0.0) for bar in bars), default=0.0) or 1.0
    drawn = []

    def across(value: float) -> float:
        return round((WIDTH - NUMBERS) * max(value, 0.0) / longest, 1)

    for bar in bars:
        for part in wrap(bar.label, LETTERS):
            drawn.append(f'<text x="0" y="{top + 12}">{escape(part)}</text>')
            top += LINE
        name = {"ours": "bar ours", "limit": "bar limit"}.get(bar.kind, "bar")
        end = max(across(bar.value), 1.0)
        drawn.append(f'<rect class="{name}" x="0" y="{top}" width="{end}" height="{BAR}"/>')
        if bar.low is not None and bar.high is not None and bar.low < bar.high:
            line = f"M{across(bar.low)} {top + BAR / 2:g}H{across(bar.high)}"
            drawn.append(f'<path class="range" d="{line}" fill="none"/>')
            end = max(end, across(bar.high))
        shown = f"{bar.value:,.{digits}f}{f' {bar.note}' if bar.note else ''}"
        drawn.append(f'<text x="{end + 6}" y="{top + 11}">{escape(shown)}</text>')
        top += BAR + GAP
    return drawn, top
