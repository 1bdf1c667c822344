"""A diagnosis: as a report for people, of one object or of many; as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from reflet.cli.output.output import API_VERSION, counted, labelled, paragraph
from reflet.cli.output.palette import Meaning, paint
from reflet.insight.why.diagnosis import Affected, Diagnosis, GroupedReason, RootStand, Unexplained
from reflet.insight.why.pod_reasons import Stand
from reflet.insight.why.reasons import ObjectName
from reflet.insight.why.signals import Signal
from reflet.resolution.places import Place

MOST_PLACES: Final = 5
MOST_SIGNALS: Final = 5
MOST_NAMES: Final = 4
"""Of workloads in one heading, and of pods below it."""


# About one object


def report(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of a report about the one object that was asked about."""
    (root,) = diagnosis.roots
    name = root.root
    about = f"{name.kind} {name.namespace}/{name.name}: "
    verdict = paragraph(f"{about}{_verdict(diagnosis, root)}")
    means: Meaning = "wrong" if diagnosis.wrong else "good"
    yield paint(verdict[0][: len(about)], "name") + paint(verdict[0][len(about) :], means)
    yield from (paint(line, means) for line in verdict[1:])
    if len(root.members) > 1:
        rows = [
            (
                str(each.name),
                f"{each.role}{', ' * bool(each.role)}{each.ready} of {each.wanted} pods ready",
            )
            for each in root.members
        ]
        yield from labelled(rows, indent=2)
    for number, reason in enumerate(diagnosis.reasons, start=1):
        yield from _block(f"{number}. ", reason.reason.message, reason)
    yield from _remainder(diagnosis)


_NOT_WRONG: Final = {
    Stand.WAITING: "it is kept back on purpose",
    Stand.LEFT_BEHIND: "it has failed, and another one is there in its place",
}


def _verdict(diagnosis: Diagnosis, root: RootStand) -> str:
    reasons = diagnosis.reasons
    stopping = [each for each in reasons if each.reason.stops and each.wrong]
    others = len(reasons) - len(stopping)
    is_pod = root.root.kind == "Pod"
    it = "it" if is_pod or not root.summary else "its pods"
    said = [root.summary] if root.summary else []
    said += [words for stand, words in _NOT_WRONG.items() if is_pod and root.pods.get(stand.value)]
    if stopping:
        said.append(_stopping_text(stopping, it))
        if others:
            said[-1] += f", and {counted(others, 'more thing')} to fix"
    elif others and root.idle:
        said.append(f"{counted(others, 'reason')} would keep {it} from starting")
    elif others and not (is_pod and said):
        said.append(f"nothing keeps {it} from starting; {counted(others, 'thing')} to fix")
    elif not root.wrong and (not root.summary or not root.pods) and not root.idle and not said:
        said.append(_fine_text(diagnosis, root))
    return "; ".join(said) or "no reason is known why it does not run"


def _stopping_text(stopping: Sequence[GroupedReason], it: str) -> str:
    configured = sum(each.reason.in_configuration for each in stopping)
    number = counted(len(stopping), "reason")
    if all(each.running for each in stopping):
        runs = "it runs" if it == "it" else "they run"
        return f"{runs}, but {number} would keep {it} from starting again"
    keep = "keeps" if len(stopping) == 1 else "keep"
    if configured == len(stopping):
        return f"{number} {keep} {it} from starting"
    of_them = f"{configured or 'none'} of them" if len(stopping) > 1 else "not"
    return f"{number} {keep} {it} from running, {of_them} in the configuration"


def _fine_text(diagnosis: Diagnosis, root: RootStand) -> str:
    runs = root.pods.get(Stand.FINE.value) and not diagnosis.from_files
    return "it runs" if runs else "nothing in its configuration keeps it from starting"


# About many


def overview(diagnosis: Diagnosis, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of a report about many objects: the reasons, worst first, and the rest."""
    shown = [each for each in diagnosis.reasons if each.wrong or verbose]
    several = len({each.root.namespace for each in diagnosis.roots}) > 1
    if shown:
        yield from (paint(line, "wrong") for line in paragraph(_headline(shown)))
    for number, reason in enumerate(shown, start=1):
        who = _who(reason.affected, several=several)
        yield from _block(f"{number}. ", f"{who}: {reason.reason.message}", reason)
    yield from _remainder(diagnosis, several=several)
    if shown or diagnosis.unexplained:
        yield ""
    yield from paragraph(_totals_text(diagnosis, len(diagnosis.reasons) - len(shown)))
    if diagnosis.left_out:
        yield ""
        yield "Not checked:"
        for line in diagnosis.left_out:
            yield from paragraph(line, first="- ")


def _headline(reasons: Sequence[GroupedReason]) -> str:
    configured = sum(each.reason.in_configuration for each in reasons)
    elsewhere = len(reasons) - configured
    parts = [f"{configured} in the configuration"] if configured else []
    parts += [f"{elsewhere} elsewhere"] if elsewhere else []
    return f"{counted(len(reasons), 'reason')}: {', '.join(parts)}"


def _who(affected: Sequence[Affected], *, several: bool) -> str:
    pods = sum(len(each.pods) for each in affected if each.root.kind != "Pod")
    names: dict[str, list[str]] = {}
    for each in affected[:MOST_NAMES]:
        names.setdefault(each.root.namespace, []).append(str(each.root))
    text = ", ".join(
        f"{', '.join(of)} ({namespace})" if several else ", ".join(of)
        for namespace, of in names.items()
    )
    more = len(affected) - MOST_NAMES
    text += f" and {more} more" if more > 0 else ""
    return f"{counted(pods, 'pod')} of {text}" if pods else text


def _totals_text(diagnosis: Diagnosis, hidden: int) -> str:
    workloads = [each for each in diagnosis.roots if each.root.kind != "Pod"]
    pods, number = diagnosis.pods(), len(workloads)
    fine = [f"{diagnosis.pods(Stand.FINE)} of {counted(pods, 'pod')}"] if pods else []
    if workloads:
        fine.append(f"{sum(not each.wrong for each in workloads)} of {counted(number, 'workload')}")
    if not fine:
        return "nothing to check"
    said = [f"{' and '.join(fine)} {'is' if pods + number == 1 else 'are'} fine"]
    for stand in (Stand.STARTING, Stand.WAITING, Stand.LEFT_BEHIND):
        others = diagnosis.pods(stand)
        if others:
            said.append(f"{counted(others, 'pod')} {'is' if others == 1 else 'are'} {stand.value}")
    idle = sum(each.idle for each in workloads)
    if idle:
        said.append(f"{counted(idle, 'workload')} {'wants' if idle == 1 else 'want'} no pods now")
    if hidden:
        said.append(f"{counted(hidden, 'more remark')}: -v shows {'it' if hidden == 1 else 'them'}")
    return "; ".join(said)


# What both have


def _block(first: str, heading: str, reason: GroupedReason) -> Iterator[str]:
    yield ""
    for line in paragraph(heading, first=first):
        yield paint(line, "title")
    yield from labelled(_facts(reason), indent=len(first), meanings={"fix": "good"})


def _facts(reason: GroupedReason) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    names = [name for each in reason.affected if each.root.kind != "Pod" for name in each.pods]
    if names:
        more = len(names) - MOST_NAMES
        shown = ", ".join(names[:MOST_NAMES])
        facts.append(("pods", f"{shown} and {more} more" if more > 0 else shown))
    facts += _few(
        "where", [_place_text(place) for place in reason.places if place.path], MOST_PLACES
    )
    why = reason.reason
    if why.kubelet:
        facts.append(("kubelet", why.kubelet))
    if why.shown_as.reason:
        facts.append(("shown as", f"{why.shown_as.source}: {why.shown_as.reason}"))
    if why.effect:
        facts.append(("effect", why.effect))
    facts += _few("seen", list(map(_signal_text, reason.explains)), MOST_SIGNALS, repeated=True)
    if not why.certain:
        facts.append(("note", _uncertain_text(reason)))
    if reason.fix:
        facts.append(("fix", reason.fix))
    return facts


def _uncertain_text(reason: GroupedReason) -> str:
    if reason.reason.in_configuration:
        return "this is what you may read; a kubelet may have other rights"
    return "the files may not be all that the cluster has"


def _few(
    label: str, texts: Sequence[str], most: int, *, repeated: bool = False
) -> list[tuple[str, str]]:
    more = len(texts) - most
    shown = [*texts[:most], f"and {more} more"] if more > 0 else texts
    return [(label if index == 0 or repeated else "", text) for index, text in enumerate(shown)]


def _place_text(place: Place) -> str:
    return place.path if str(place) == place.path else f"{place} ({place.path})"


def _signal_text(signal: Signal) -> str:
    source = f"container {signal.container}" if signal.source == "container" else signal.source
    times = f" ({signal.count} times)" if signal.count > 1 else ""
    message = f": {signal.message}" if signal.message else ""
    return f"{source}: {signal.reason}{times}{message}"


def _remainder(diagnosis: Diagnosis, *, several: bool | None = None) -> Iterator[str]:
    """Yield what no reason explains, and what could not be told."""
    for heading, complaints in (
        (
            "Seen in the cluster, not explained by the configuration as it is now:",
            [each for each in diagnosis.unexplained if not each.signal.from_elsewhere],
        ),
        (
            "Seen in the cluster, not configuration:",
            [each for each in diagnosis.unexplained if each.signal.from_elsewhere],
        ),
    ):
        if complaints:
            yield ""
            yield heading
            for each in complaints[: MOST_SIGNALS * 2]:
                yield from paragraph(_complaint_text(each, several), first="- ")
            more = len(complaints) - MOST_SIGNALS * 2
            if more > 0:
                yield f"- and {more} more"
    if diagnosis.unknown:
        yield ""
        yield "Could not be read here, and did not keep the pod from starting:"
        for reason in diagnosis.unknown:
            yield from paragraph(reason.reason.message, first="- ")
    if several is None and diagnosis.left_out:
        yield ""
        yield "Not checked:"
        for line in diagnosis.left_out:
            yield from paragraph(line, first="- ")


def _complaint_text(each: Unexplained, several: bool | None) -> str:
    text = _signal_text(each.signal)
    if several is None:
        return text
    where = f" ({each.at.namespace})" if several else ""
    return f"{each.at}{where}: {text}"


# For programs


def diagnosis_document(diagnosis: Diagnosis, remarks: Sequence[str]) -> dict[str, Any]:
    """Return a diagnosis for programs."""
    roots = diagnosis.roots
    workloads = [each for each in roots if each.root.kind != "Pod"]
    return {
        "apiVersion": API_VERSION,
        "kind": "Diagnosis",
        "wrong": diagnosis.wrong,
        "reasons": [_reason_document(reason) for reason in diagnosis.reasons],
        "unexplained": [
            {**_signal_document(each.signal), "object": _name_document(each.at)}
            for each in diagnosis.unexplained
        ],
        "unknown": [_reason_document(reason) for reason in diagnosis.unknown],
        "objects": [_root_document(each) for each in roots if each.wrong or len(roots) == 1],
        "totals": {
            "pods": diagnosis.pods(),
            **{
                f"pods{stand.value.title().replace(' ', '')}": diagnosis.pods(stand)
                for stand in Stand
            },
            "workloads": len(workloads),
            "workloadsWrong": sum(each.wrong for each in workloads),
            "workloadsIdle": sum(each.idle for each in workloads),
        },
        "notLookedAt": list(diagnosis.left_out),
        "notes": list(remarks),
    }


def _name_document(name: ObjectName) -> dict[str, str]:
    return {"kind": name.kind, "namespace": name.namespace, "name": name.name}


def _root_document(root: RootStand) -> dict[str, Any]:
    return {
        **_name_document(root.root),
        "wrong": root.wrong,
        "wantsNoPods": root.idle,
        "summary": root.summary or None,
        "pods": dict(root.pods),
        "members": [
            {
                **_name_document(each.name),
                "role": each.role or None,
                "wanted": each.wanted,
                "ready": each.ready,
            }
            for each in root.members
        ],
    }


def _reason_document(grouped: GroupedReason) -> dict[str, Any]:
    reason = grouped.reason
    return {
        "type": reason.type,
        "message": reason.message,
        "wrong": grouped.wrong,
        "configuration": reason.in_configuration,
        "affected": [
            {**_name_document(each.root), "pods": list(each.pods)} for each in grouped.affected
        ],
        "places": [msgspec.to_builtins(place) for place in grouped.places],
        "stops": reason.stops,
        "running": grouped.running,
        "effect": reason.effect or None,
        "certain": reason.certain,
        "kubelet": reason.kubelet or None,
        "shownAs": msgspec.to_builtins(reason.shown_as) or None,
        "fix": grouped.fix or None,
        "explains": [_signal_document(signal) for signal in grouped.explains],
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
