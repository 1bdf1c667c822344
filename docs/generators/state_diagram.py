"""The reflector's states as a picture, drawn from the tables that it obeys.

Each state is a lane, and each way from one to another an arrow on a line of its own, with the
endings that lead there.  ``make reference`` draws it again, and a test fails while it is out of
date.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from reflet.informer.reflector.endings import (
    AFTER_LIST,
    AFTER_WATCH,
    AFTER_WATCH_LIST,
    AFTER_WATCH_REQUEST,
    Ending,
    ListStep,
    ReflectorState,
    WatchListStep,
    WatchStep,
)

IMAGE: Final = Path(__file__).parents[1] / "images/reflector-states.svg"

WIDTH: Final = 480
LETTER: Final = 6.9  # pixels of a letter, on average
ROW: Final = 38
TOP: Final = 58  # where the first arrow's words are
STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.state { font-weight: 600; text-anchor: middle }
.box { fill: #ddf4ff; stroke: #0969da }
.lane { stroke: #d0d7de; stroke-dasharray: 3 3 }
.way { fill: none; stroke: #57606a; stroke-width: 1.5 }
.head { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .box { fill: #0c2d4d; stroke: #4493f8 }
  .lane { stroke: #3d444d }
  .way { stroke: #8d96a0 }
  .head { fill: #8d96a0 }
}
"""

_WATCH_LIST, _LIST, _WATCH = (
    ReflectorState.WATCH_LIST.value,
    ReflectorState.LIST.value,
    ReflectorState.WATCHING.value,
)
_OVER = "pass is over"

_TARGETS: Final[Mapping[enum.Enum, tuple[str, str]]] = MappingProxyType(
    {
        WatchListStep.WATCH: (_WATCH, ""),
        WatchListStep.REPEAT: (_WATCH_LIST, ""),
        WatchListStep.WAIT_THEN_REPEAT: (_WATCH_LIST, "wait"),
        WatchListStep.REPEAT_WITHOUT_VERSION: (_WATCH_LIST, "forget the version"),
        WatchListStep.LIST: (_LIST, ""),
        ListStep.WATCH: (_WATCH, ""),
        ListStep.REPEAT_WITHOUT_VERSION: (_LIST, "forget the version"),
        ListStep.REPORT_THEN_RELIST: (_OVER, "report"),
        WatchStep.REWATCH: (_WATCH, ""),
        WatchStep.WAIT_THEN_REWATCH: (_WATCH, "wait"),
        WatchStep.RELIST_AT_ONCE: (_WATCH_LIST, "wait, if it is the second in a minute"),
        WatchStep.WAIT_THEN_RELIST: (_OVER, ""),
        WatchStep.REPORT_THEN_RELIST: (_OVER, "report"),
    }
)


_STATES: Final = (_WATCH_LIST, _LIST, _WATCH, _OVER)
_LANES: Final = {state: 60 + 120 * number for number, state in enumerate(_STATES)}


class Way(NamedTuple):
    """An arrow of the picture: from where to where, after which endings, and what is done."""

    source: str
    target: str
    endings: tuple[str, ...]
    action: str = ""

    @property
    def label(self) -> str:
        """What is written above it."""
        return " / ".join(filter(None, (", ".join(self.endings), self.action)))


def ways() -> list[Way]:
    """Everything that the tables say, and the wait after a pass."""
    return [
        *_ways(_WATCH_LIST, AFTER_WATCH_LIST),
        *_ways(_LIST, AFTER_LIST),
        *_ways(_WATCH, AFTER_WATCH),
        *_ways(_WATCH, AFTER_WATCH_REQUEST, "request "),
        Way(_OVER, _WATCH_LIST, (), "wait"),
    ]


def diagram() -> str:
    """Draw the states, as SVG."""
    rows = ways()
    height = TOP + ROW * len(rows)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        "<title>The states of a reflector, and what leads from one to another</title>",
        f"<style>{STYLE}</style>",
    ]
    for state, x in _LANES.items():
        lines += [
            f'<path class="lane" d="M{x} 30V{height}"/>',
            f'<rect class="box" x="{x - 52}" y="4" width="104" height="26" rx="6"/>',
            f'<text class="state" x="{x}" y="21">{state}</text>',
        ]
    for number, way in enumerate(rows):
        lines += _arrow(way, TOP + ROW * number)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(way: Way, y: int) -> Iterator[str]:
    """One way: its words, a line below them, and the head; back to the same state it is a loop."""
    source, target = _LANES[way.source], _LANES[way.target]
    left = max(0.0, min(min(source, target) + 6, WIDTH - LETTER * len(way.label)))
    yield f'<text x="{left:g}" y="{y}">{escape(way.label)}</text>'
    line = y + 10
    if source == target:
        yield f'<path class="way" d="M{source} {line - 5}h22v10h-14"/>'
        yield f'<path class="head" d="M{source} {line + 5}l9 -4v8z"/>'
        return
    back = 9 if target > source else -9
    yield f'<path class="way" d="M{source} {line}H{target - back}"/>'
    yield f'<path class="head" d="M{target} {line}l{-back} -4v8z"/>'


def _ways(state: str, table: Mapping[Ending, enum.Enum], prefix: str = "") -> Iterator[Way]:
    """One way for each place to go to, with all the endings that lead there."""
    found: dict[tuple[str, str], list[str]] = {}
    for ending, step in table.items():
        found.setdefault(_TARGETS[step], []).append(prefix + ending.value.replace("_", " "))
    for (target, action), endings in found.items():
        yield Way(state, target, tuple(endings), action)
