"""The first page of docs/performance: one line a job, and the goals that were missed.

Owns: which figures are shown there, and where they stand in the page.  Must not measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.controllers_contestants import KOPF, OURS, RUNTIME
from benchmarks.fault_contestants import GO_INFORMER, OFFICIAL, REFLET
from benchmarks.measuring import RESULTS, table
from benchmarks.page_sections import SECTIONS
from benchmarks.performance_page import FOLDER, missed_goals, path_of
from benchmarks.recovery_contestants import AUTO, KUBELET, WATCH

PAGE: Final = FOLDER / "index.md"
BEGIN: Final = "<!-- written by python -m benchmarks.report: begin -->"
MISSED: Final = "<!-- goals missed, by python -m benchmarks.report: begin -->"
END: Final = "<!-- end -->"
TITLE: Final = "What it costs, next to others; fewer is better"
A_MINUTE: Final = 60.0  # seconds
COLUMNS: Final = ("job", "Reflet", "official Python client", "client-go or kubelet, in Go")

Figures = Mapping[str, Any]


def loaded(*, quick: bool = False, results: Path = RESULTS) -> dict[str, Figures]:
    """The figures of the benchmarks that the table is made of, as far as there are any."""
    found = {}
    for name in ("mirror", "managers", "idle", "faults", "recovery", "controllers"):
        path = results / f"{name}{'-quick' if quick else ''}.json"
        if path.is_file():
            found[name] = json.loads(path.read_text())["figures"]
    return found


def filled(page: str, found: Mapping[str, Figures]) -> str:
    """The page with both tables in their places: the goals are those of the other pages."""
    return with_missed(with_table(page, short_table(found)), missed_table())


def missed_table(folder: Path = FOLDER) -> str:
    """The goals that pages say were missed, each with its page."""
    rows = [
        (f"[{section.title}]({path_of(name).name})", goal, measured)
        for name, section in sorted(SECTIONS.items())
        if (page := folder / path_of(name).name).is_file()
        for goal, measured in missed_goals(page.read_text())
    ]
    return table("Goals missed", ("page", "goal", "measured"), rows).partition("\n\n")[2]


def with_missed(page: str, rows: str) -> str:
    """The page with these goals in their place."""
    place = re.compile(rf"{re.escape(MISSED)}.*?{re.escape(END)}", re.DOTALL)
    return place.sub(lambda _: f"{MISSED}\n\n{rows}\n\n{END}", page)


def short_table(found: Mapping[str, Figures]) -> str:
    """The table; lines whose figures are missing are left out."""
    return table(TITLE, COLUMNS, list(_rows(found)))


def with_table(page: str, text: str) -> str:
    """The page with the lines of the table in their place; without such a place it stays as it is.

    Lines of jobs that the table does not have stay too: somebody else measured those.
    """

    def filled(found: re.Match[str]) -> str:
        lines = {line[0]: line for line in (*_lines(found[0]), *_lines(text))}
        _, _, rows = table(TITLE, COLUMNS, lines.values()).partition("\n\n")
        return f"{BEGIN}\n\n{rows}\n\n{END}"

    place = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return place.sub(filled, page)


def _lines(text: str) -> list[list[str]]:
    """The cells of a table's lines, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def _rows(found: Mapping[str, Figures]) -> Iterator[tuple[str, ...]]:
    if "mirror" in found:
        yield from _mirror_rows(found["mirror"])
    if "managers" in found:
        yield from _manager_rows(found["managers"])
    if "idle" in found:
        yield from _idle_rows(found["idle"])
    if "faults" in found:
        yield from _fault_rows(found["faults"])
    if "recovery" in found:
        yield from _recovery_rows(found["recovery"])
    if "controllers" in found:
        yield from _controller_rows(found["controllers"])


def _mirror_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    events = figures["events"]["figures"]
    json_text, protobuf = (
        _median(events, name, "cpu_microseconds") for name in ("go_json", "go_protobuf")
    )
    yield (
        "CPU for a watch event, µs",
        _median(events, "ours_http2", "cpu_microseconds"),
        _median(events, "official", "cpu_microseconds"),
        f"{json_text} (JSON), {protobuf} (protobuf)",
    )
    by_size = figures["memory"]["ConfigMap"]
    held = by_size[max(by_size, key=int)]["figures"]
    yield (
        "memory for a cached ConfigMap of 1 KiB, bytes",
        _median(held, "ours_http2", "bytes_per_object", digits=0),
        _median(held, "official", "bytes_per_object", digits=0),
        _median(held, "go_json_stream", "bytes_per_object", digits=0),
    )
    sync, scale = figures["sync"]["figures"], 1e6 / figures["size"]["sync_objects"]
    yield (
        "CPU for an object of the first list, µs",
        _median(sync, "ours_http2", "cpu_seconds", scale=scale),
        _median(sync, "official", "cpu_seconds", scale=scale),
        _median(sync, "go_json", "cpu_seconds", scale=scale),
    )


def _manager_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    held = figures["held"]["figures"]
    watch, auto, kubelet = (
        _median(held, name, "bytes_per_object", scale=1e-3) for name in ("watch", "auto", "kubelet")
    )
    yield (
        "memory for an object that a pod uses, kB",
        f"{watch} (`watch`), {auto} (`auto`)",
        "has no such thing",
        kubelet,
    )
    followed = figures["followed"]["kube-apiserver"]
    yield (
        "from a write to a changed read, 50 objects, p99, ms",
        _median(followed["50"], "watch", "sent_p99_ms"),
        "has no such thing",
        "notifies nobody; the kubelet polls once a minute",
    )


def _idle_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    if figures["size"]["seconds"] < A_MINUTE:
        return  # bookmarks come once a minute: a shorter look sees all of them or none
    by_size = figures["managers"]
    objects = max(by_size, key=int)
    found = by_size[objects]["figures"]
    watch, auto, kubelet = (
        _median(found, name, "bytes", scale=1e-3) for name in ("watch", "auto", "kubelet_watch")
    )
    yield (
        f"traffic a minute for {int(objects):,} objects of pods, nothing changes, kB",
        f"{watch} (`watch`), {auto} (`auto`)",
        "has no such thing",
        kubelet,
    )


def _fault_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    [fault] = [title for title in figures if title.startswith("watch answers 500")]
    asked = {name: f"{each['lists'] + each['watches']:,}" for name, each in figures[fault].items()}
    # The fault of the table is the middle one of the lengths that growth is fitted through.
    lengths = [
        sorted(map(float, each["points"]))
        for each in figures.get("growth", ())
        if each["who"] == REFLET
    ]
    length = f" for {lengths[0][len(lengths[0]) // 2]:g} s" if lengths else ""
    yield (
        f"requests to a server that answers watches with 500{length}",
        *(asked.get(name, "not measured") for name in (REFLET, OFFICIAL, GO_INFORMER)),
    )


def _recovery_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    seconds = f"{max(figures['size']['outages']):g}"
    objects = str(max(int(each) for each in figures["outages"][WATCH]))

    def last(name: str) -> str:
        found = figures["outages"][name].get(objects, {}).get(seconds, {})
        if "live" not in found:
            return "not measured"
        return f"{'' if found['live'] == int(objects) else '>'}{found['last_seconds']:.1f}"

    yield (
        f"server away for {seconds} s: from its /readyz to the last of {int(objects):,} objects, s",
        f"{last(WATCH)} (`watch`), {last(AUTO)} (`auto`)",
        "has no such thing",
        last(KUBELET),
    )


def _controller_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    objects = max(figures["no_op"], key=int)
    found, scale = figures["no_op"][objects]["figures"], 1e6 / int(objects)
    ours, kopf, runtime = (
        _median(found, name, "cpu_seconds", scale=scale) for name in (OURS, KOPF, RUNTIME)
    )
    yield (
        f"CPU to reconcile one of {int(objects):,} objects, µs",
        ours,
        f"has no such thing (kopf: {kopf})",
        f"{runtime} (controller-runtime)",
    )


def _median(
    figures: Figures, name: str, figure: str, *, digits: int = 1, scale: float = 1.0
) -> str:
    """A contestant's figure, or that it has none: somebody was left out, or was not there."""
    if name not in figures:
        return "not measured"
    return f"{figures[name][figure]['median'] * scale:,.{digits}f}"
