"""Problems and remarks: lines on stderr for people, and their place in documents for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click
import msgspec

from reflet.cli.output.output import obeys_escapes, visible
from reflet.insight.fixes import Advice
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import Problem
from reflet.resolution.variables import Environment

_COLOURS: Final = {"error": "red", "warning": "yellow", "note": "cyan"}


def tell(level: str, text: str) -> None:
    """Say one line on stderr; *level* is ``error``, ``warning`` or ``note``."""
    word = f"{level}:"
    if obeys_escapes(sys.stderr) and not os.environ.get("NO_COLOR"):
        word = click.style(word, fg=_COLOURS[level], bold=True)
    click.echo(f"{word} {visible(' '.join(text.split()))}", err=True)


def tell_surroundings(inputs: PodInputs) -> None:
    """Say what is assumed or missing, and what a server would refuse."""
    for remark in inputs.remarks:
        tell("note", remark)
    for refusal in inputs.refusals:
        tell("warning", str(refusal))


def tell_problems(problems: Sequence[Problem], *, fixes: Sequence[str]) -> None:
    """Say every problem: what, where, what the kubelet says, and what to do."""
    for problem, fix in zip(problems, fixes, strict=True):
        tell("error" if problem.blocking else "warning", f"{problem.place}: {problem.message}")
        if problem.kubelet and problem.kubelet != problem.message:
            click.echo(f"  kubelet: {visible(problem.kubelet)}", err=True)
        if fix:
            click.echo(f"  fix: {visible(fix)}", err=True)


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
