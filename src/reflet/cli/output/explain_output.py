"""An explanation of a pod: as a tree for people, as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from reflet.cli.output.environment_output import (
    SERVICES_HINT,
    assignment_document,
    counts_of_services,
    is_of_service,
    origin_text,
    value_text,
)
from reflet.cli.output.output import API_VERSION, clipped, text_columns, visible, wrapped
from reflet.cli.output.palette import LEVELS, Meaning, paint
from reflet.cli.output.problem_output import problem_document, surroundings_documents
from reflet.insight.explain import (
    ExplainedContainer,
    ExplainedFile,
    ExplainedPod,
    ExplainedVariable,
    ExplainedVolume,
    Follows,
    Sight,
)
from reflet.resolution import origins
from reflet.resolution.environment.variables import Environment
from reflet.resolution.origins import Origin, ValueOrigin
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import Problem, UnresolvedReference

MOST_OF_A_VALUE: Final = 60  # columns


def tree_of(
    inputs: PodInputs, result: ExplainedPod, *, reveal: bool, services: bool = True
) -> Iterator[str]:
    """Yield the lines of the tree, none longer than the terminal where it can be helped.

    Without *services*, one branch stands for the variables of all services.
    """
    yield paint(visible(f"{inputs.target} in {inputs.pod.metadata.namespace}"), "title")
    branches = [
        *(_container_branch(each, reveal=reveal, services=services) for each in result.containers),
        *(_volume_branch(each) for each in result.volumes),
    ]
    yield from _drawn(branches)


Line = tuple[str, Meaning | None]
Branch = tuple[str, list[Line], list[Any]]
"""A heading, the lines below it with what each means, and the branches below these."""


def _drawn(branches: list[Branch], indent: str = "") -> Iterator[str]:
    for index, (heading, lines, below) in enumerate(branches):
        last = index == len(branches) - 1
        name, rest = _split(visible(heading))
        yield paint(indent + ("└─ " if last else "├─ "), "dim") + paint(name, "name") + rest
        inner = indent + ("   " if last else "│  ")
        stem = inner + ("│ " if below else "  ")
        for line, meaning in lines:
            yield from _wrapped(line, stem, meaning)
        yield from _drawn(below, inner)


def _split(heading: str) -> tuple[str, str]:
    """Cut a heading between the name and what is said of it: ``LEVEL`` and `` = debug``."""
    end = min((found for mark in (" = ", ",") if (found := heading.find(mark)) > 0), default=None)
    return (heading, "") if end is None else (heading[:end], heading[end:])


def _wrapped(text: str, indent: str, meaning: Meaning | None) -> Iterator[str]:
    room = max(text_columns() - len(indent), 20)
    for number, line in enumerate(wrapped(text, room - 2) or [""]):
        yield paint(indent, "dim") + ("  " if number else "") + paint(line, meaning)


def _container_branch(container: ExplainedContainer, *, reveal: bool, services: bool) -> Branch:
    environment = container.environment
    kind = "init container" if "initContainers" in container.path else "container"
    lines = _error_lines("would not start", environment.error)
    placed = [problem for problem in environment.problems if not problem.place.variable]
    lines += [_problem_line(problem) for problem in placed]
    shown = {each.variable.name for each in container.variables}
    folded = [each.variable for each in container.variables if is_of_service(each.variable)]
    below: list[Branch] = [
        _variable_branch(each, environment, reveal=reveal)
        for each in container.variables
        if services or not is_of_service(each.variable)
    ]
    if folded and not services:
        below.append((" ".join(counts_of_services(folded)), [(SERVICES_HINT, "dim")], []))
    missing = dict.fromkeys(
        problem.place.variable
        for problem in environment.problems
        if problem.place.variable and problem.place.variable not in shown
    )
    below += [
        (f"{name} is not set", _problem_lines(environment.problems, name), []) for name in missing
    ]
    if not below:
        lines.append(("no variables", "dim"))
    return f"{kind} {environment.container}", lines, below


def _variable_branch(
    explained: ExplainedVariable, environment: Environment, *, reveal: bool
) -> Branch:
    variable = explained.variable
    value = clipped(visible(value_text(variable.assignment, reveal=reveal)), MOST_OF_A_VALUE)
    lines: list[Line] = [(f"from {_variable_source(variable.origin)}", "dim")]
    unresolved = {
        problem.name
        for problem in environment.problems
        if isinstance(problem, UnresolvedReference) and problem.place.variable == variable.name
    }
    for expansion in explained.expansions:
        if expansion.assignment is not None:
            seen = clipped(value_text(expansion.assignment, reveal=reveal), MOST_OF_A_VALUE)
            source = source_text(expansion.assignment.origin)
            lines.append((f"$({expansion.name}) is {seen}, from {source}", "dim"))
        elif expansion.name not in unresolved:  # else there is a warning
            unknown = f"$({expansion.name}) is not known while an object or key is missing"
            lines.append((unknown, "caution"))
    for shadowed in variable.shadows:
        hidden = clipped(value_text(shadowed, reveal=reveal), MOST_OF_A_VALUE)
        lines.append((f"shadows {hidden}, from {_variable_source(shadowed.origin)}", "dim"))
    lines += _problem_lines(environment.problems, variable.name)
    lines.append(_variable_change(variable.origin, immutable=explained.immutable))
    return f"{variable.name} = {value}", lines, []


def _variable_source(origin: Origin) -> str:
    """Return the source of a variable, and how it came to its name."""
    text = source_text(origin)
    if not getattr(origin, "whole", False):
        return text
    prefix = getattr(origin, "prefix", "")
    return f"{text}, by envFrom" + (f" with prefix {prefix}" if prefix else "")


def _variable_change(origin: Origin, *, immutable: bool) -> Line:
    if immutable:
        return "cannot change: the object is immutable", "dim"
    if isinstance(origin, ValueOrigin) and not origin.substitutions:
        return "a change makes a new pod", "caution"
    return "a change needs a restart", "caution"


def _volume_branch(volume: ExplainedVolume) -> Branch:
    contents = volume.contents
    lines = _error_lines("would not be set up", contents.error)
    lines += [_problem_line(problem) for problem in contents.problems]
    if not volume.files:
        lines.append(("no files", "dim"))
    return f"volume {contents.volume}", lines, [_file_branch(each) for each in volume.files]


def _file_branch(explained: ExplainedFile) -> Branch:
    file = explained.file
    size = f"{len(file.data)} B" if file.known else "not known yet"
    lines: list[Line] = [(f"from {source_text(file.origin)}", "dim")]
    lines += [(f"shadows {source_text(origin)}", "dim") for origin in file.shadows]
    for sight in explained.sights:
        change, meaning = _file_change(explained, sight)
        lines.append((f"container {sight.container} sees {sight.path}; {change}", meaning))
    if not explained.sights:
        lines.append(("no container sees it", "caution"))
    return f"{explained.path}, mode {file.mode:04o}, {size}", lines, []


def _file_change(explained: ExplainedFile, sight: Sight) -> Line:
    if explained.immutable:
        return "cannot change: the object is immutable", "dim"
    if sight.sub_path:
        return "never follows a change: it is mounted by subPath", "caution"
    if sight.follows is Follows.LIVE:
        return "a change needs no restart", "good"
    return "cannot change while the pod lives", "dim"


def source_text(origin: Origin) -> str:
    """Return a source in full: what, where and in which version."""
    match origin:
        case origins.ConfigMapOrigin() | origins.SecretOrigin():
            kind = "ConfigMap" if isinstance(origin, origins.ConfigMapOrigin) else "Secret"
            version = f" (version {origin.resource_version})" if origin.resource_version else ""
            return f"key {origin.key} of {kind} {origin.name}{version}"
        case origins.ValueOrigin(template=template, substitutions=substitutions):
            return f"the pod itself: {template}" if substitutions else "the pod itself"
        case origins.ServiceOrigin():
            return f"Service {origin.namespace}/{origin.name}"
        case origins.FieldOrigin():
            return f"field {origin.path} of the pod"
        case _:
            return origin_text(origin)


def _error_lines(what: str, error: str | None) -> list[Line]:
    return [] if error is None else [(f"{what}: {error}", "wrong")]


def _problem_lines(problems: tuple[Problem, ...], variable: str) -> list[Line]:
    return [_problem_line(problem) for problem in problems if problem.place.variable == variable]


def _problem_line(problem: Problem) -> Line:
    level = "error" if problem.blocking else "warning"
    return f"{level}: {problem.message}", LEVELS[level]


# For programs


def explained_document(inputs: PodInputs, result: ExplainedPod, *, reveal: bool) -> dict[str, Any]:
    """Return everything that the tree shows."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "namespace": inputs.pod.metadata.namespace,
        "pod": inputs.pod.metadata.name or None,
        "containers": [_container(each, reveal=reveal) for each in result.containers],
        "volumes": [_volume(each) for each in result.volumes],
        "problems": surroundings_documents(inputs),
    }
    if inputs.from_template:
        document["workload"] = {"kind": inputs.kind, "name": inputs.name}
    return document


def _container(container: ExplainedContainer, *, reveal: bool) -> dict[str, Any]:
    environment = container.environment
    return {
        "container": environment.container,
        "variables": [_variable(each, reveal=reveal) for each in container.variables],
        "error": environment.error,
        "problems": [problem_document(problem) for problem in environment.problems],
    }


def _variable(explained: ExplainedVariable, *, reveal: bool) -> dict[str, Any]:
    variable = explained.variable
    return {
        "name": variable.name,
        **assignment_document(variable.assignment, reveal=reveal),
        "shadows": [assignment_document(each, reveal=reveal) for each in variable.shadows],
        "expansions": [
            {"name": expansion.name, "found": False}
            if expansion.assignment is None
            else {
                "name": expansion.name,
                "found": True,
                **assignment_document(expansion.assignment, reveal=reveal),
            }
            for expansion in explained.expansions
        ],
        "follows": explained.follows.value,
        "immutable": explained.immutable,
    }


def _volume(volume: ExplainedVolume) -> dict[str, Any]:
    contents = volume.contents
    return {
        "volume": contents.volume,
        "files": [_file(each) for each in volume.files],
        "error": contents.error,
        "problems": [problem_document(problem) for problem in contents.problems],
    }


def _file(explained: ExplainedFile) -> dict[str, Any]:
    file = explained.file
    return {
        "path": explained.path,
        "mode": f"{file.mode:04o}",
        "size": len(file.data) if file.known else None,
        "source": msgspec.to_builtins(file.origin),
        "shadows": [msgspec.to_builtins(origin) for origin in file.shadows],
        "seenBy": [
            {
                "container": sight.container,
                "path": sight.path,
                "follows": sight.follows.value,
                "subPath": sight.sub_path or None,
            }
            for sight in explained.sights
        ],
        "immutable": explained.immutable,
    }
