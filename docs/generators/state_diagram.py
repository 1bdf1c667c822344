"""The reflector's states as a picture, drawn from the tables that it obeys.

``python -m docs.generators.state_diagram docs/explanation/reflector.md`` draws it again in that
page; a test fails while it is out of date.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

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

BEGIN: Final = "<!-- drawn from reflet.informer.reflector.endings: begin -->"
END: Final = "<!-- end -->"

_WATCH_LIST, _LIST, _WATCH = (
    ReflectorState.WATCH_LIST.value,
    ReflectorState.LIST.value,
    ReflectorState.WATCHING.value,
)
_OVER = "PassIsOver"

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


def diagram() -> str:
    """Draw the states, as Mermaid text."""
    lines = ["stateDiagram-v2", f"[*] --> {_WATCH_LIST}"]
    lines += _edges(_WATCH_LIST, AFTER_WATCH_LIST)
    lines += _edges(_LIST, AFTER_LIST)
    lines += _edges(_WATCH, AFTER_WATCH)
    lines += _edges(_WATCH, AFTER_WATCH_REQUEST, "request ")
    lines.append(f"{_OVER} --> {_WATCH_LIST}: wait")
    return "\n    ".join(lines) + "\n"


def redrawn(page: str) -> str:
    """Return *page* with the diagram between its marks drawn again."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no place for the diagram: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n```mermaid\n{diagram()}```\n\n{END}{after}"


def _edges(state: str, table: Mapping[Ending, enum.Enum], prefix: str = "") -> Iterator[str]:
    """One line for each way from a state, with all the endings that lead there."""
    ways: dict[tuple[str, str], list[str]] = {}
    for ending, step in table.items():
        ways.setdefault(_TARGETS[step], []).append(ending.value.replace("_", " "))
    for (target, action), endings in ways.items():
        reasons = prefix + ", ".join(endings)
        yield f"{state} --> {target}: {reasons}{f' / {action}' if action else ''}"


if __name__ == "__main__":
    _page = Path(sys.argv[1])
    _page.write_text(redrawn(_page.read_text()))
