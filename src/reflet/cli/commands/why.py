"""``reflet why``: what in its configuration keeps a pod from starting, and what to do.

Owns: the command and its report.  Must not know how reasons are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import print_json
from reflet.cli.output.report_text import counted, labelled, paragraph, styled
from reflet.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reflet.cli.pod_gathering import PodInHand
    from reflet.insight.pod_signals import Signal
    from reflet.insight.why import Diagnosis, Reason
    from reflet.resolution.objects import ObjectKey
    from reflet.resolution.places import Place

API_VERSION: Final = "reflet.dev/v1alpha1"
MOST_PLACES: Final = 5


@click.command()
@pod_options
@click.option(
    "-o", "--output", type=click.Choice(("text", "json")), default="text", show_default=True
)
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that are no names for variables, as Kubernetes 1.19 did.",
)
def why(choice: PodChoice, output: str, skip_invalid_names: bool) -> int:
    """Say what in its configuration keeps a pod from starting.

    Every reason is told, not only the first, with what the kubelet says and what to do about
    it.  From a cluster the pod's status and events are read too: what they complain about is
    matched with the reasons, and what configuration does not explain is told apart.  With -f
    the files are read as if they were applied.  Exit code 1: there are reasons.
    """
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.cli.pod_gathering import Needs  # noqa: PLC0415 - as above

    remarks: tuple[str, ...] = ()
    try:
        hand = choice.gather(Needs(events=True))
    except Invalid as refusal:
        if not choice.files:
            raise
        diagnosis, title = _refused(refusal), f"{refusal.kind} {refusal.name}"
    else:
        diagnosis = diagnosed(hand, skip_invalid_names=skip_invalid_names)
        title, remarks = title_of(hand), hand.remarks
    if output == "json":
        print_json(_document(diagnosis, remarks))
    else:
        for remark in remarks:
            problem_output.tell("note", remark)
        for line in report(title, diagnosis):
            click.echo(line)
    return 1 if diagnosis.reasons else 0


def diagnosed(hand: PodInHand, *, skip_invalid_names: bool = False) -> Diagnosis:
    """Find the reasons for a pod in hand."""
    from reflet.insight.why import diagnose  # noqa: PLC0415 - not needed for --help

    return diagnose(
        hand.pod,
        hand.objects,
        services=hand.services,
        node=hand.node,
        events=hand.events,
        known=hand.known_objects,
        refused=_refused_objects(hand),
        skip_invalid_names=skip_invalid_names,
    )


def _refused_objects(hand: PodInHand) -> Mapping[ObjectKey, str]:
    refused: dict[ObjectKey, str] = {}
    for refusal in hand.refusals:
        words = f"{refusal.place}: {refusal.message}"
        if refusal.kind == "ConfigMap":
            refused["ConfigMap", refusal.namespace, refusal.name] = words
        elif refusal.kind == "Secret":
            refused["Secret", refusal.namespace, refusal.name] = words
    return refused


def _refused(error: Invalid) -> Diagnosis:
    from reflet.insight.why import Diagnosis, Reason  # noqa: PLC0415 - not needed for --help

    reason = Reason(
        problem="Refused",
        message=str(error),
        fix="change the fields that it names",
    )
    return Diagnosis(namespace="", pod=error.name, reasons=(reason,))


def title_of(hand: PodInHand) -> str:
    """Return what a report is about."""
    return f"{hand.kind} {hand.pod.metadata.namespace}/{hand.name}"


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


def _document(diagnosis: Diagnosis, remarks: tuple[str, ...]) -> dict[str, Any]:
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
    import msgspec  # noqa: PLC0415 - not needed for --help

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
