"""Problems and remarks: lines on stderr for people, and their place in documents for programs.

People get a few lines before the answer, and are told how to see the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from reflet.cli.output.output import counted, say
from reflet.cli.output.palette import LEVELS
from reflet.insight.fixes import Advice
from reflet.resolution.environment.variables import Environment
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import Problem

MOST_LINES: Final = 6  # of warnings and notes, before the answer


class Notice(NamedTuple):
    """One message: its level, which is that of ``tell``, its text, and labelled texts below it."""

    level: str
    text: str
    details: tuple[tuple[str, str], ...] = ()


def tell(level: str, text: str) -> None:
    """Print a message on stderr; *level* is ``error``, ``warning`` or ``note``."""
    say(text, level=level)


def tell_few(notices: Iterable[Notice], *, verbose: bool) -> None:
    """Say what ``few`` leaves of the notices, on stderr."""
    for notice in few(notices, verbose=verbose):
        tell(notice.level, notice.text)
        for label, text in notice.details:
            say(f"{label}: {text}", prefix="  ", meaning="good" if label == "fix" else "dim")


def few(notices: Iterable[Notice], *, verbose: bool) -> list[Notice]:
    """Return what is said: equal notices once, every error, and a few lines of the others.

    Warnings go before notes.  The last one then says how many are not said, and how to see them;
    with *verbose* there are none.
    """
    times = Counter(notices)
    room = MOST_LINES
    said: set[Notice] = set()
    for notice in sorted(times, key=lambda each: list(LEVELS).index(each.level)):
        lines = 1 + len(notice.details)
        if notice.level != "error" and not verbose:
            if lines > room:
                room = 0
                continue
            room -= lines
        said.add(notice)
    shown = [_with_count(notice, times[notice]) for notice in times if notice in said]
    hidden = sum(number for notice, number in times.items() if notice not in said)
    if hidden:
        more = counted(hidden, "more remark")
        shown.append(Notice("note", f"{more}: -v shows {'it' if hidden == 1 else 'them all'}"))
    return shown


def _with_count(notice: Notice, times: int) -> Notice:
    return notice if times == 1 else notice._replace(text=f"{notice.text} ({times} times)")


def surroundings(inputs: PodInputs) -> list[Notice]:
    """Return what is assumed or missing, and what a server would refuse."""
    return [
        *(Notice("note", remark) for remark in inputs.remarks),
        *(Notice("warning", str(refusal)) for refusal in inputs.refusals),
    ]


def notices_of(problems: Sequence[Problem], *, fixes: Sequence[str]) -> list[Notice]:
    """Return every problem: what, where, what the kubelet says, and what to do."""
    notices = []
    for problem, fix in zip(problems, fixes, strict=True):
        details = []
        if problem.kubelet and problem.kubelet != problem.message:
            details.append(("kubelet", problem.kubelet))
        if fix:
            details.append(("fix", fix))
        level = "error" if problem.blocking else "warning"
        notices.append(Notice(level, f"{problem.place}: {problem.message}", tuple(details)))
    return notices


def fixes_for(
    inputs: PodInputs, problems: Sequence[Problem], environments: Iterable[Environment] = ()
) -> list[str]:
    """Return what to do about each problem; an empty text where nobody knows."""
    if not problems:
        return []
    advice = Advice(
        known=inputs.known_objects,
        environments={each.container: each for each in environments},
    )
    return [advice.about(problem) for problem in problems]


def problem_document(problem: Problem, fix: str = "") -> dict[str, Any]:
    """Return a problem for programs."""
    document: dict[str, Any] = {
        "type": type(problem).__name__,
        "message": problem.message,
        "place": msgspec.to_builtins(problem.place),
        "blocking": problem.blocking,
        "kubelet": problem.kubelet or None,
    }
    return {**document, "fix": fix} if fix else document


def surroundings_documents(inputs: PodInputs) -> list[dict[str, Any]]:
    """Return refusals and remarks in the form of problems."""
    said = [("RefusedObject", item.message, {"path": item.place}) for item in inputs.refusals]
    said += [("Remark", remark, {}) for remark in inputs.remarks]
    return [
        {"type": kind, "message": message, "place": place, "blocking": False, "kubelet": None}
        for kind, message, place in said
    ]
