"""A diagnosis: as a report for people, as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from reflet.cli.output.output import API_VERSION, counted, labelled, paragraph, styled
from reflet.insight.why import Diagnosis, Reason, Signal
from reflet.resolution.places import Place
from reflet.resolution.pod_inputs import PodInputs

MOST_PLACES: Final = 5


def title_of(inputs: PodInputs) -> str:
    """Return what a report is about."""
    return f"{inputs.kind} {inputs.namespace}/{inputs.name}"


def report(title: str, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of a report for people."""
    yield from paragraph(f"{title}: {_verdict(diagnosis)}")
    for number, reason in enumerate(diagnosis.reasons, start=1):
        yield ""
        head, *rest = paragraph(reason.message, first=f"{number}. ")
        yield styled(head, bold=True)
        yield from (styled(line, bold=True) for line in rest)
        yield from labelled(_facts(reason), indent=3)
    for heading, signals in (
        (
            "Seen in the cluster, not explained by the configuration as it is now:",
            [signal for signal in diagnosis.unexplained if not signal.from_elsewhere],
        ),
        (
            "Seen in the cluster, not configuration:",
            [signal for signal in diagnosis.unexplained if signal.from_elsewhere],
        ),
    ):
        if signals:
            yield ""
            yield heading
            for signal in signals:
                yield from paragraph(_signal_text(signal), first="- ")
    if diagnosis.unknown:
        yield ""
        yield "Could not be told here, and did not keep the pod from starting:"
        for reason in diagnosis.unknown:
            yield from paragraph(reason.message, first="- ")


def _verdict(diagnosis: Diagnosis) -> str:
    if not diagnosis.reasons:
        return "nothing in its configuration keeps it from starting"
    stopping = sum(reason.stops for reason in diagnosis.reasons)
    others = len(diagnosis.reasons) - stopping
    if not stopping:
        return f"nothing keeps it from starting; {counted(others, 'thing')} to mend"
    more = f", and {counted(others, 'more thing')} to mend" if others else ""
    if diagnosis.running:
        return f"it runs, but {counted(stopping, 'reason')} would keep it from starting again{more}"
    keep = "keeps" if stopping == 1 else "keep"
    return f"{counted(stopping, 'reason')} {keep} it from starting{more}"


def _facts(reason: Reason) -> list[tuple[str, str]]:
    places = [_place_text(place) for place in reason.places if place.path]
    more = len(places) - MOST_PLACES
    if more > 0:
        places = [*places[:MOST_PLACES], f"and {more} more"]
    facts = [("where" if index == 0 else "", place) for index, place in enumerate(places)]
    if reason.kubelet:
        facts.append(("kubelet", reason.kubelet))
    if reason.shown_as.reason:
        facts.append(("shown as", f"{reason.shown_as.source}: {reason.shown_as.reason}"))
    if reason.effect:
        facts.append(("effect", reason.effect))
    facts += [("seen", _signal_text(signal)) for signal in reason.explains]
    if not reason.certain:
        facts.append(("note", "this is what you may read; a kubelet may have other rights"))
    if reason.fix:
        facts.append(("fix", reason.fix))
    return facts


def _place_text(place: Place) -> str:
    return place.path if str(place) == place.path else f"{place} ({place.path})"


def _signal_text(signal: Signal) -> str:
    source = f"container {signal.container}" if signal.source == "container" else signal.source
    times = f" ({signal.count} times)" if signal.count > 1 else ""
    message = f": {signal.message}" if signal.message else ""
    return f"{source}: {signal.reason}{times}{message}"


def diagnosis_document(diagnosis: Diagnosis, remarks: Sequence[str]) -> dict[str, Any]:
    """Return a diagnosis for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Diagnosis",
        "namespace": diagnosis.namespace,
        "pod": diagnosis.pod,
        "running": diagnosis.running,
        "reasons": [_reason_document(reason) for reason in diagnosis.reasons],
        "unexplained": [_signal_document(signal) for signal in diagnosis.unexplained],
        "unknown": [_reason_document(reason) for reason in diagnosis.unknown],
        "notes": list(remarks),
    }


def _reason_document(reason: Reason) -> dict[str, Any]:
    return {
        "type": reason.problem,
        "message": reason.message,
        "places": [msgspec.to_builtins(place) for place in reason.places],
        "stops": reason.stops,
        "effect": reason.effect or None,
        "certain": reason.certain,
        "kubelet": reason.kubelet or None,
        "shownAs": msgspec.to_builtins(reason.shown_as) or None,
        "fix": reason.fix or None,
        "explains": [_signal_document(signal) for signal in reason.explains],
    }


def _signal_document(signal: Signal) -> dict[str, Any]:
    return {
        "source": signal.source,
        "container": signal.container or None,
        "reason": signal.reason,
        "message": signal.message,
        "count": signal.count,
        "configuration": not signal.from_elsewhere,
    }
