"""How far an edit has come: event, cache, files, processes, with times where somebody knows them.

Whoever reads the API server alone knows when the event was there and when the cache had it, and not
when a kubelet wrote a file: then that is what is said.  An agent that writes files itself reports
when it did.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from reflet.api.frozen import Frozen
from reflet.api.meta import Time
from reflet.insight.page.page_document import (
    EditStep,
    PageArrival,
    PageEdit,
    PageState,
    PageWorkload,
    Way,
    page_id,
    seconds,
)
from reflet.insight.stale.object_history import KeyChange

MOST_EDITS: Final = 30
FIXED: Final = frozenset({"variable", "subPath"})
LEFT: Final = frozenset({"needs-restart", "missing"})
NOT_KNOWN: Final = "kubelet: within its sync period, when is not known"
IN_MEMORY: Final = "in memory"
OVER: Final = "kubelet: its sync period is over"
_WORST: Final[tuple[PageState, ...]] = ("missing", "needs-restart", "unknown", "on-its-way")


class DeliveryTime(Frozen, frozen=True, kw_only=True):
    """An agent wrote a volume of a pod: after how many milliseconds."""

    what: str
    milliseconds: float


class SeenEdit(Frozen, frozen=True, kw_only=True):
    """An edit that a watch saw, and when it was in memory, in milliseconds after it had come.

    ``cached`` is ``None`` where that was not measured.
    """

    at: Time
    source: str
    keys: tuple[str, ...]
    by: str = ""
    cached: float | None = None
    files: tuple[DeliveryTime, ...] = ()


def edit_of(
    source: str, changes: Iterable[KeyChange], *, at: datetime, cached: float | None
) -> SeenEdit:
    """Return the edit that these changes of keys are."""
    every = tuple(changes)
    by = next((change.by for change in every if change.by), "")
    return SeenEdit(
        at=at, source=source, keys=tuple(change.key for change in every), by=by, cached=cached
    )


def edit_page(edit: SeenEdit, workloads: Iterable[PageWorkload]) -> PageEdit:
    """Return what the page shows of an edit, as its lines are now in those who use the object."""
    lines = list(_lines(edit, workloads))
    at = seconds(edit.at) or 0.0
    cached = IN_MEMORY if edit.cached is None else took(edit.cached)
    return PageEdit(
        at=at,
        source=edit.source,
        keys=edit.keys,
        by=edit.by,
        steps=(
            EditStep(stage="event", state="current", text=""),
            EditStep(stage="cache", state="current", text=cached),
            *_files(edit, [line for line in lines if line.way == "file"]),
            _processes([line for line in lines if line.way in FIXED]),
        ),
    )


class _Line(NamedTuple):
    """The end of a line of an edit: the container, in how many pods, and the state there."""

    way: Way
    container: tuple[str, int, str]
    pods: int
    state: PageState


def _lines(edit: SeenEdit, workloads: Iterable[PageWorkload]) -> Iterator[_Line]:
    for workload in workloads:
        name = page_id(workload.kind, workload.namespace, workload.name)
        for arrival in workload.arrivals:
            if _is_of(edit, arrival):
                for link in arrival.to:
                    container = (name, link.pods, link.container)
                    count = workload.pods[link.pods].count
                    yield _Line(arrival.way, container, count, link.state)


def _is_of(edit: SeenEdit, arrival: PageArrival) -> bool:
    return arrival.source == edit.source and (not arrival.key or arrival.key in edit.keys)


def _files(edit: SeenEdit, lines: list[_Line]) -> Iterator[EditStep]:
    if edit.files:
        yield EditStep(stage="file", state="current", text=_delivered(edit.files))
    elif lines:
        state = _worst(lines)
        yield EditStep(stage="file", state=state, text=NOT_KNOWN if state == "on-its-way" else OVER)


def _processes(lines: list[_Line]) -> EditStep:
    every = {line.container: line.pods for line in lines}
    left = {line.container: line.pods for line in lines if line.state in LEFT}
    if left:
        text = f"{sum(left.values())} of {_containers(sum(every.values()))} not reached"
        return EditStep(stage="process", state=_worst(lines), text=text)
    text = "no process has it from its start" if not lines else "started since"
    return EditStep(stage="process", state="current", text=text)


def _worst(lines: Iterable[_Line]) -> PageState:
    states = {line.state for line in lines}
    return next((state for state in _WORST if state in states), "current")


def _containers(count: int) -> str:
    return f"{count} container{'' if count == 1 else 's'}"


def _delivered(deliveries: tuple[DeliveryTime, ...]) -> str:
    slowest = max(deliveries, key=lambda each: each.milliseconds)
    if len(deliveries) == 1:
        return f"{took(slowest.milliseconds)} {slowest.what}"
    quickest = min(each.milliseconds for each in deliveries)
    return f"{took(quickest)} to {took(slowest.milliseconds)}, {len(deliveries)} of them"


def took(milliseconds: float) -> str:
    """Return a duration as the page writes it."""
    if milliseconds < 1:
        return "+<1 ms"
    return f"+{milliseconds:.0f} ms" if milliseconds < 1000 else f"+{milliseconds / 1000:.1f} s"
