"""Bars as SVG: a picture that a browser shows, that diffs well and that needs no library.

Owns: the layout.  Must not know what is compared.

Colours follow the reader's light or dark scheme; numbers stand beside the bars, so that nobody
has to measure with a ruler.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

NAMESPACE: Final = "http://www.w3.org/2000/svg"
WIDTH: Final = 760
LABELS: Final = 310  # pixels for the names
NUMBERS: Final = 120  # pixels for the numbers
ROW: Final = 26
BAR: Final = 16
HEAD: Final = 58
FOOT: Final = 14

STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
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


def bar_chart(
    title: str, unit: str, bars: Sequence[Bar], *, digits: int = 1, labels: int = LABELS
) -> str:
    """Draw the bars behind *labels* pixels of names, each as long as its value, from zero on.

    A value below zero is written out beside a bar without length.
    """
    height = HEAD + ROW * len(bars) + FOOT
    lines = [
        f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<text class="title" x="0" y="20">{escape(title)}</text>',
        f'<text class="faint" x="0" y="40">{escape(unit)}</text>',
        *_rows(bars, digits, labels),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _rows(bars: Sequence[Bar], digits: int, labels: int) -> Iterator[str]:
    longest = max((max(bar.value, bar.high or 0.0) for bar in bars), default=0.0) or 1.0
    room = WIDTH - labels - NUMBERS

    def across(value: float) -> float:
        return round(labels + room * max(value, 0.0) / longest, 1)

    for number, bar in enumerate(bars):
        top = HEAD + ROW * number
        middle = top + BAR / 2
        name = {"ours": "bar ours", "limit": "bar limit"}.get(bar.kind, "bar")
        end = across(bar.value)
        yield f'<text x="{labels - 8}" y="{top + 13}" text-anchor="end">{escape(bar.label)}</text>'
        width = max(round(end - labels, 1), 1.0)
        yield f'<rect class="{name}" x="{labels}" y="{top}" width="{width}" height="{BAR}"/>'
        if bar.low is not None and bar.high is not None and bar.low < bar.high:
            yield (
                f'<path class="range" d="M{across(bar.low)} {middle}H{across(bar.high)}" '
                'fill="none"/>'
            )
            end = max(end, across(bar.high))
        shown = f"{bar.value:,.{digits}f}{f' {bar.note}' if bar.note else ''}"
        yield f'<text x="{end + 6}" y="{top + 13}">{escape(shown)}</text>'
