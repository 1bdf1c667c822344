"""Old values in running containers: as a table, as a document, as metrics, and line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import click

from reflet.cli.output.output import (
    API_VERSION,
    counted,
    paragraph,
    print_fitting_table,
    visible,
)
from reflet.cli.output.palette import Meaning
from reflet.gotext.times import time_text
from reflet.insight.stale.held_values import Arrival, Certainty, HeldState
from reflet.insight.stale.stale_workloads import SharedUse, WorkloadStaleness
from reflet.insight.stale.staleness import KeyUse
from reflet.runtime.metrics import MetricText

HEADINGS: Final = ("WORKLOAD", "FROM", "STATE", "KNOWN", "WHY")
STALE_CONTAINERS: Final = "reflet_stale_containers"
MEANING: Final = "Running containers that hold, or may hold, a value that has changed."
SHOWN: Final = (HeldState.NEEDS_RESTART, HeldState.MISSING, HeldState.ON_ITS_WAY)
"""What people are shown unless they ask for everything."""

_VERDICTS: Final[Mapping[str, Meaning]] = {
    "is current": "good",
    "follows by itself": "good",
    "is stale": "caution",
    "may be stale": "caution",
    "source is gone": "wrong",
}
_ARRIVALS: Final = {Arrival.VARIABLE: "env", Arrival.FILE: "file", Arrival.SUB_PATH: "subPath"}


def print_stale(
    workloads: Sequence[WorkloadStaleness],
    *,
    pods: int,
    everything: bool,
    everywhere: bool,
    no_headers: bool,
    wide: bool,
) -> None:
    """Print what is stale or on its way, or *everything*, and how much that is."""
    shown = [each if everything else each.with_states(*SHOWN) for each in workloads]
    rows = [
        ([each.namespace] if everywhere else []) + row
        for each in shown
        if each.uses
        for row in _rows(each)
    ]
    if rows:
        headings = ("NAMESPACE", *HEADINGS) if everywhere else HEADINGS
        flexible = tuple(headings.index(each) for each in ("WHY", "FROM", "WORKLOAD"))
        print_fitting_table(
            headings,
            rows,
            flexible=flexible,
            no_headers=no_headers,
            wide=wide,
            meaning=_cell_meaning,
        )
        click.echo()
    for line in paragraph(totals_text(workloads, pods=pods)):
        click.echo(line)


def _cell_meaning(heading: str, cell: str) -> Meaning | None:
    if heading in {"FROM", "WHY"}:
        return "dim"
    if heading == "WORKLOAD":
        return None if cell.startswith(" ") else "name"
    return _VERDICTS.get(cell)


def _rows(workload: WorkloadStaleness) -> Iterator[list[str]]:
    """Yield the workload, and below it each of its uses."""
    pods = "" if workload.kind == "Pod" else f" ({counted(len(workload.pods), 'pod')})"
    yield [f"{workload.title}{pods}", "", "", "", ""]
    for shared in workload.uses:
        use = shared.use
        some = len(shared.pods) < len(workload.pods)
        yield [
            f"  {_use_text(use)}" + (f" ({counted(len(shared.pods), 'pod')})" if some else ""),
            source_text(use),
            use.verdict,
            use.certainty.value,
            use.judgement.reason,
        ]


def _use_text(use: KeyUse) -> str:
    return f"{use.container}: {_ARRIVALS[use.arrival]} {use.name}"


def source_text(use: KeyUse) -> str:
    """Return where the value comes from: ``configmap/settings LOG_LEVEL``."""
    return f"{use.kind.lower()}/{use.object} {use.key}".rstrip()


def totals_text(workloads: Sequence[WorkloadStaleness], *, pods: int) -> str:
    """Return how much is stale, in a sentence that claims no more than is known."""
    stale = [each for each in workloads if each.is_stale]
    is_stale, may_be = (
        sum(each.stale_containers(certainty) for each in stale)
        for certainty in (Certainty.OBSERVED, Certainty.INFERRED)
    )
    looked = f"{counted(pods, 'running pod')} {'was' if pods == 1 else 'were'} checked"
    if not stale:
        said = f"nothing is known to be stale: {looked}"
    else:
        parts = [
            f"{counted(number, 'container')} {words}"
            for number, words in (
                (is_stale, "is stale" if is_stale == 1 else "are stale"),
                (may_be, "may be stale"),
            )
            if number
        ]
        said = f"{' and '.join(parts)}, of {counted(len(stale), 'workload')}; {looked}"
    unknown = sum(
        each.use.state is HeldState.UNKNOWN for workload in workloads for each in workload.uses
    )
    hidden = f"; of {counted(unknown, 'use')} it is not known (--all lists them)"
    return said + (hidden if unknown else "")


def stale_document(
    workloads: Iterable[WorkloadStaleness], *, pods: int, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the workloads for programs."""
    every = list(workloads)
    return {
        "apiVersion": API_VERSION,
        "kind": "StaleReport",
        "workloads": [_workload_document(each) for each in every],
        "totals": {
            "pods": pods,
            "staleWorkloads": sum(each.is_stale for each in every),
            **{
                f"{certainty.value}Containers": sum(
                    each.stale_containers(certainty) for each in every
                )
                for certainty in Certainty
            },
        },
        "notes": list(notes),
    }


def _workload_document(workload: WorkloadStaleness) -> dict[str, Any]:
    return {
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "stale": workload.is_stale,
        "pods": list(workload.pods),
        "uses": [_use_document(each) for each in workload.uses],
    }


def _use_document(shared: SharedUse) -> dict[str, Any]:
    use, judgement = shared.use, shared.use.judgement
    return {
        "container": use.container,
        "as": use.arrival.value,
        "name": use.name,
        "object": {"kind": use.kind, "name": use.object, "key": use.key or None},
        "state": use.state.value,
        "certainty": use.certainty.value,
        "verdict": use.verdict,
        "reason": judgement.reason,
        "changed": None if judgement.at is None else time_text(judgement.at),
        "by": judgement.by or None,
        "amongKeys": judgement.among or None,
        "pods": list(shared.pods),
    }


def metrics_text(workloads: Iterable[WorkloadStaleness]) -> str:
    """Return the containers that are stale, or may be, as Prometheus reads it.

    Where there are none, what the metric means is there all the same: somebody has looked.
    """
    metrics = MetricText()
    for each in workloads:
        for certainty in Certainty:
            number = each.stale_containers(certainty)
            if number:
                labels = {"namespace": each.namespace, "workload": each.title}
                metrics.gauge(STALE_CONTAINERS, number, **labels, certainty=certainty.value)
    return f"# HELP {STALE_CONTAINERS} {MEANING}\n{metrics.text()}"


Line = tuple[str, str, str, str, HeldState, Certainty]
"""What makes a use the same in two reports: whose, as what, from where, and what is said of it."""


def lines_of(workloads: Iterable[WorkloadStaleness]) -> dict[Line, str]:
    """Return a line for each use that is worth one, by what makes it the same."""
    lines: dict[Line, str] = {}
    for workload in workloads:
        for shared in workload.with_states(*SHOWN).uses:
            use = shared.use
            key = (
                *(workload.namespace, workload.title, _use_text(use), source_text(use)),
                *(use.state, use.certainty),
            )
            lines[key] = visible(
                f"{workload.namespace} {workload.title} {_use_text(use)}: {use.verdict} "
                f"({use.certainty.value}, {counted(len(shared.pods), 'pod')}): "
                f"{source_text(use)}: {use.judgement.reason}"
            )
    return lines
