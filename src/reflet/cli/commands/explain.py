"""``reflet explain``: every variable and file of a pod as a tree.

Owns: the command and the words of the tree.  Must not know how it is found out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import USUAL_COLUMNS, clipped, print_json, print_yaml, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reflet.api.core.pods import Pod
    from reflet.cli.pod_gathering import Needs, PodInHand
    from reflet.insight.explain import (
        ExplainedContainer,
        ExplainedFile,
        ExplainedPod,
        ExplainedVariable,
        ExplainedVolume,
        Sight,
    )
    from reflet.resolution.origins import Origin
    from reflet.resolution.problems import Problem
    from reflet.resolution.references import Reference
    from reflet.resolution.variables import Environment

FORMS: Final = ("tree", "json", "yaml")
MOST_OF_A_VALUE: Final = 60  # columns


@click.command()
@pod_options
@click.option("-c", "--container", default="", help="Only this container; all when not given.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="tree", show_default=True)
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
def explain(choice: PodChoice, container: str, output: str, reveal: bool) -> int:
    """Explain every variable and file of a pod, and what a change needs.

    Each comes with its value, its source, what it shadows, how $(NAME) was expanded, and
    whether a change of the source needs a restart.  Exit code 1: something would not start.
    """
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.cli.pod_volumes import resolve_volumes  # noqa: PLC0415 - as above
    from reflet.insight.explain import explain as explained_pod  # noqa: PLC0415 - as above
    from reflet.resolution.places import container_named, containers_of  # noqa: PLC0415 - as above

    hand = choice.gather(_needs(container))
    if container:
        container_named(hand.pod, container)
    environments: dict[str, Environment] = {
        placed.container.name: hand.environment(placed.container.name)
        for placed in containers_of(hand.pod.spec)
        if container in {"", placed.container.name}
    }
    mounted = _mounted(hand.pod, set(environments)) if container else None
    volumes = [
        contents
        for contents in resolve_volumes(hand)
        if mounted is None or contents.volume in mounted
    ]
    result = explained_pod(hand.pod, hand.objects, environments=environments, volumes=volumes)
    refused = any(each.error for each in environments.values()) or any(
        each.error for each in volumes
    )
    if output != "tree":
        from reflet.cli.output.explain_document import explained_document  # noqa: PLC0415 - as above

        document = explained_document(hand, result, reveal=reveal)
        (print_json if output == "json" else print_yaml)(document)
        return int(refused)
    problem_output.tell_surroundings(hand)
    for line in tree_of(hand, result, reveal=reveal):
        click.echo(line)
    return int(refused)


def _needs(container: str) -> Needs:
    from reflet.cli.pod_gathering import Needs  # noqa: PLC0415 - not needed for --help
    from reflet.resolution.references import Usage  # noqa: PLC0415 - as above

    def shown(_: Pod, reference: Reference) -> bool:
        if reference.usage is Usage.VOLUME:
            return True
        in_environment = reference.usage in {Usage.ENV, Usage.ENV_FROM}
        return in_environment and container in {"", reference.place.container}

    return Needs(references=shown, bundles=True)


def _mounted(pod: Pod, containers: set[str]) -> set[str]:
    from reflet.resolution.places import containers_of  # noqa: PLC0415 - not for --help

    return {
        mount.name
        for placed in containers_of(pod.spec)
        if placed.container.name in containers
        for mount in placed.container.volume_mounts
    }


# The tree


def tree_of(hand: PodInHand, result: ExplainedPod, *, reveal: bool) -> Iterator[str]:
    """Yield the lines of the tree, none longer than a usual terminal where it can be helped."""
    yield f"{hand.target} in {hand.pod.metadata.namespace}"
    branches = [
        *(_container_branch(each, reveal=reveal) for each in result.containers),
        *(_volume_branch(each) for each in result.volumes),
    ]
    yield from _drawn(branches)


Branch = tuple[str, list[str], list[Any]]
"""A heading, the lines below it, and the branches below these."""


def _drawn(branches: list[Branch], indent: str = "") -> Iterator[str]:
    for index, (heading, lines, below) in enumerate(branches):
        last = index == len(branches) - 1
        yield indent + ("└─ " if last else "├─ ") + visible(heading)
        inner = indent + ("   " if last else "│  ")
        stem = inner + ("│ " if below else "  ")
        for line in lines:
            yield from _wrapped(visible(line), stem)
        yield from _drawn(below, inner)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    import textwrap  # noqa: PLC0415 - not needed for --help

    room = max(USUAL_COLUMNS - len(indent), 20)
    for number, line in enumerate(
        textwrap.wrap(text, room - 2, break_long_words=False, break_on_hyphens=False) or [""]
    ):
        yield f"{indent}{'  ' if number else ''}{line}".rstrip()


def _container_branch(container: ExplainedContainer, *, reveal: bool) -> Branch:
    environment = container.environment
    kind = "init container" if "initContainers" in container.path else "container"
    lines = _error_lines("would not start", environment.error)
    placed = [problem for problem in environment.problems if not problem.place.variable]
    lines += [_problem_line(problem) for problem in placed]
    shown = {each.variable.name for each in container.variables}
    below: list[Branch] = [
        _variable_branch(each, environment, reveal=reveal) for each in container.variables
    ]
    missing = dict.fromkeys(
        problem.place.variable
        for problem in environment.problems
        if problem.place.variable and problem.place.variable not in shown
    )
    below += [
        (f"{name} is not set", _problem_lines(environment.problems, name), []) for name in missing
    ]
    if not below:
        lines.append("no variables")
    return f"{kind} {environment.container}", lines, below


def _variable_branch(
    explained: ExplainedVariable, environment: Environment, *, reveal: bool
) -> Branch:
    from reflet.cli.commands.env import value_text  # noqa: PLC0415 - not needed for --help

    variable = explained.variable
    value = clipped(visible(value_text(variable.assignment, reveal=reveal)), MOST_OF_A_VALUE)
    lines = [f"from {_variable_source(variable.origin)}"]
    for expansion in explained.expansions:
        if expansion.assignment is None:
            lines.append(f"$({expansion.name}) stays as it is")
        else:
            seen = clipped(value_text(expansion.assignment, reveal=reveal), MOST_OF_A_VALUE)
            lines.append(
                f"$({expansion.name}) is {seen}, from {source_text(expansion.assignment.origin)}"
            )
    for shadowed in variable.shadows:
        hidden = clipped(value_text(shadowed, reveal=reveal), MOST_OF_A_VALUE)
        lines.append(f"shadows {hidden}, from {_variable_source(shadowed.origin)}")
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


def _variable_change(origin: Origin, *, immutable: bool) -> str:
    from reflet.resolution.origins import ValueOrigin  # noqa: PLC0415 - not for --help

    if immutable:
        return "cannot change: the object is immutable"
    if isinstance(origin, ValueOrigin) and not origin.substitutions:
        return "a change makes a new pod"
    return "a change needs a restart"


def _volume_branch(volume: ExplainedVolume) -> Branch:
    contents = volume.contents
    lines = _error_lines("would not be set up", contents.error)
    lines += [_problem_line(problem) for problem in contents.problems]
    if not volume.files:
        lines.append("no files")
    return f"volume {contents.volume}", lines, [_file_branch(each) for each in volume.files]


def _file_branch(explained: ExplainedFile) -> Branch:
    file = explained.file
    size = f"{len(file.data)} B" if file.known else "not known yet"
    lines = [f"from {source_text(file.origin)}"]
    lines += [f"shadows {source_text(origin)}" for origin in file.shadows]
    lines += [
        f"container {sight.container} sees {sight.path}; {_file_change(explained, sight)}"
        for sight in explained.sights
    ]
    if not explained.sights:
        lines.append("no container sees it")
    return f"{explained.path}, mode {file.mode:04o}, {size}", lines, []


def _file_change(explained: ExplainedFile, sight: Sight) -> str:
    from reflet.insight.explain import Follows  # noqa: PLC0415 - not needed for --help

    if explained.immutable:
        return "cannot change: the object is immutable"
    if sight.sub_path:
        return "never follows a change: it is mounted by subPath"
    if sight.follows is Follows.LIVE:
        return "a change needs no restart"
    return "cannot change while the pod lives"


def source_text(origin: Origin) -> str:
    """Return a source in full: what, where and in which version."""
    from reflet.cli.output.origin_text import origin_text  # noqa: PLC0415 - not needed for --help
    from reflet.resolution import origins  # noqa: PLC0415 - as above

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


def _error_lines(what: str, error: str | None) -> list[str]:
    return [] if error is None else [f"{what}: {error}"]


def _problem_lines(problems: tuple[Problem, ...], variable: str) -> list[str]:
    return [_problem_line(problem) for problem in problems if problem.place.variable == variable]


def _problem_line(problem: Problem) -> str:
    return f"{'error' if problem.blocking else 'warning'}: {problem.message}"
