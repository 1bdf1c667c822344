"""Lines over time as SVG, beside the bars of ``bar_chart``.

Owns: the layout.  Must not know what is shown.

Colours follow the reader's light or dark scheme; whose line is whose stands above the picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from benchmarks.bar_chart import LINE, WIDTH, heading, picture
from benchmarks.bar_chart import STYLE as SHARED_STYLE

PLOT: Final = 240  # pixels that the lines have
FOOT: Final = 44
LEFT: Final = 76  # pixels for the numbers of the axis
RIGHT: Final = 18
LEGEND: Final = 240  # pixels for one name

STYLE: Final = (
    SHARED_STYLE
    + """
.line { fill: none; stroke: #8c959f; stroke-width: 2; stroke-linejoin: round }
.line.ours { stroke: #0969da }
.dashed { stroke-dasharray: 4 3; stroke-width: 1.5 }
.grid { stroke: #d0d7de; stroke-width: 1 }
.mark { stroke: #24292f; stroke-width: 1; stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
  .line { stroke: #6e7681 }
  .line.ours { stroke: #4493f8 }
  .grid { stroke: #3d444d }
  .mark { stroke: #e6edf3 }
}
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points, by x; ``ours`` and ``dashed`` tell it from the others."""

    label: str
    points: Sequence[tuple[float, float]]
    ours: bool = False
    dashed: bool = False


def line_chart(
    title: str,
    unit: str,
    lines: Sequence[Line],
    *,
    most: float,
    least: float | None = None,
    marks: Mapping[float, str] | None = None,
) -> str:
    """Draw the lines over one axis of time, in seconds.

    From 0 to *most*; with *least* by powers of ten from there on, and what is less is not drawn.
    *marks* are moments with a name.
    """
    head, top = heading(title, unit)
    legend = list(_legend(lines, top))
    plot = _Plot(
        first=min(x for line in lines for x, _ in line.points),
        last=max(x for line in lines for x, _ in line.points),
        least=least,
        most=most,
        top=top + LINE * math.ceil(len(lines) / 2) + 10,
    )
    drawn = [
        *(*head, *legend),
        *_axes(plot),
        *_marks(plot, marks or {}),
        *(_drawn(plot, line) for line in lines),
    ]
    return picture(title, STYLE, drawn, plot.bottom + FOOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    first: float
    last: float
    least: float | None
    most: float
    top: int

    @property
    def bottom(self) -> int:
        return self.top + PLOT

    def across(self, x: float) -> float:
        room = WIDTH - LEFT - RIGHT
        return round(LEFT + room * (x - self.first) / (self.last - self.first), 1)

    def up(self, y: float) -> float:
        if self.least is None:
            share = y / self.most
        else:
            share = math.log10(y / self.least) / math.log10(self.most / self.least)
        return round(self.top + PLOT * (1 - share), 1)

    def shows(self, y: float) -> bool:
        return y >= (self.least or 0.0)

    def levels(self) -> Iterator[float]:
        if self.least is None:
            yield from (self.most * quarter / 4 for quarter in range(5))
            return
        level = self.least
        while level <= self.most:
            yield level
            level *= 10


def _legend(lines: Sequence[Line], top: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        left, middle = LEGEND * (number % 2), top + LINE * (number // 2) + 8
        height = 3 if line.dashed else 8
        name = "bar ours" if line.ours else "bar"
        upper = middle - height / 2
        yield f'<rect class="{name}" x="{left}" y="{upper:g}" width="18" height="{height}"/>'
        yield f'<text x="{left + 24}" y="{middle + 4}">{escape(line.label)}</text>'


def _axes(plot: _Plot) -> Iterator[str]:
    for level in plot.levels():
        y = plot.up(level)
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield (
            f'<text class="faint" x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">'
            f"{level:,.0f}</text>"
        )
    for second in range(math.ceil(plot.first / 20) * 20, int(plot.last) + 1, 20):
        yield (
            f'<text class="faint" x="{plot.across(second)}" y="{plot.bottom + 18}" '
            f'text-anchor="middle">{second} s</text>'
        )


def _marks(plot: _Plot, marks: Mapping[float, str]) -> Iterator[str]:
    for moment, name in marks.items():
        x = plot.across(moment)
        yield f'<path class="mark" d="M{x} {plot.top}V{plot.bottom}"/>'
        yield (
            f'<text class="faint" x="{x}" y="{plot.bottom + 36}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )


def _drawn(plot: _Plot, line: Line) -> str:
    steps = []
    pen_is_down = False
    for x, y in line.points:
        if plot.shows(y):
            steps.append(f"{'L' if pen_is_down else 'M'}{plot.across(x)} {plot.up(y)}")
        pen_is_down = plot.shows(y)
    classes = " ".join(
        ["line", *(["ours"] if line.ours else []), *(["dashed"] if line.dashed else [])]
    )
    return f'<path class="{classes}" d="{"".join(steps)}"/>'
