"""The reflector's states as a picture, drawn from the tables that it obeys.

Owns: the Mermaid text, and its place in the documentation.  ``python -m
reflet.informer.reflector.state_diagram docs/explanation/reflector.md`` draws it again there; a test
fails while it is out of date.  Must not know anything that the tables do not say.
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
    AFTER_STREAMING_LIST,
    AFTER_WATCH,
    AFTER_WATCH_REQUEST,
    Ending,
    ListStep,
    StreamingStep,
    WatchStep,
)

BEGIN: Final = "<!-- drawn from reflet.informer.reflector.endings: begin -->"
END: Final = "<!-- end -->"

_STREAMING, _LIST, _WATCH, _OVER = "StreamingList", "List", "Watch", "PassIsOver"

_TARGETS: Final[Mapping[enum.Enum, tuple[str, str]]] = MappingProxyType(
    {
        StreamingStep.WATCH: (_WATCH, ""),
        StreamingStep.REPEAT: (_STREAMING, ""),
        StreamingStep.WAIT_THEN_REPEAT: (_STREAMING, "wait"),
        StreamingStep.REPEAT_WITHOUT_VERSION: (_STREAMING, "forget the version"),
        StreamingStep.LIST: (_LIST, ""),
        ListStep.WATCH: (_WATCH, ""),
        ListStep.REPEAT_WITHOUT_VERSION: (_LIST, "forget the version"),
        ListStep.REPORT_THEN_RELIST: (_OVER, "report"),
        WatchStep.REWATCH: (_WATCH, ""),
        WatchStep.WAIT_THEN_REWATCH: (_WATCH, "wait"),
        WatchStep.RELIST_AT_ONCE: (_STREAMING, "wait, if it is the second in a minute"),
        WatchStep.WAIT_THEN_RELIST: (_OVER, ""),
        WatchStep.REPORT_THEN_RELIST: (_OVER, "report"),
    }
)


def diagram() -> str:
    """Draw the states, as Mermaid text."""
    lines = ["stateDiagram-v2", f"[*] --> {_STREAMING}"]
    lines += _edges(_STREAMING, AFTER_STREAMING_LIST)
    lines += _edges(_LIST, AFTER_LIST)
    lines += _edges(_WATCH, AFTER_WATCH)
    lines += _edges(_WATCH, AFTER_WATCH_REQUEST, "request ")
    lines.append(f"{_OVER} --> {_STREAMING}: wait")
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
