"""Why no node takes a pod: what the nodes themselves tell, and what only the scheduler says.

Of each node, the first obstacle counts, in the scheduler's order: labels, cordons, taints, size.
What depends on the other pods of a node is the scheduler's word alone.

Upstream: pkg/scheduler/framework/plugins/{nodeaffinity,nodeunschedulable,tainttoleration,
    noderesources}; pkg/scheduler/framework/types.go, FitError
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from reflet.api.core.nodes import Node, Taint
from reflet.api.core.pods import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    Toleration,
)
from reflet.api.frozen import Frozen
from reflet.api.quantities import Quantity
from reflet.errors import ParseError
from reflet.insight.why.reasons import ObjectName, Reason

CORDONED: Final = "node.kubernetes.io/unschedulable"
_NAME: Final = "metadata.name"  # the only field of a node that can be selected by
_MOST_OBSTACLES: Final = 4  # in one sentence

_HEAD: Final = re.compile(r"^\d+/\d+ nodes are available: ?")
_INSUFFICIENT: Final = re.compile(r"(?P<nodes>\d+) Insufficient (?P<resource>[^\s,]+?)(?=[,.]|$)")
# What nodes tell themselves is not repeated in the scheduler's words, which change with versions.
_TOLD_BY_NODES: Final = re.compile(
    r"\d+ (?:node\(s\) (?:had untolerated taint|had taint|were unschedulable|"
    r"didn't match Pod's node affinity)|Insufficient )"
)


class Obstacle(Frozen, frozen=True, kw_only=True):
    """Why a node does not take a pod: of some, and of every node; and what would help."""

    some: str
    every: str
    fix: str


class NoNodeFits(Reason, frozen=True, kw_only=True):
    """No node takes the pod.

    ``obstacles`` are those that nodes show themselves, each with how many have it; ``lacking`` are
    resources of which the other nodes have too little free; ``words`` is what else the scheduler
    says.
    """

    nodes: int
    obstacles: tuple[tuple[Obstacle, int], ...] = ()
    lacking: tuple[str, ...] = ()
    words: str = ""

    def _sentence(self) -> str:
        others = self.nodes - sum(number for _, number in self.obstacles)
        if not others and len(self.obstacles) == 1:
            return f"no node takes the pod: {self.obstacles[0][0].every}"
        said = [f"{number} {each.some}" for each, number in self.obstacles[:_MOST_OBSTACLES]]
        more = sum(number for _, number in self.obstacles[_MOST_OBSTACLES:])
        said += [f"{more} for other reasons"] if more else []
        if self.lacking:
            said.append(f"{others} with too little {' and '.join(self.lacking)} left")
        said += [self.words] if self.words else []
        head = f"none of {self.nodes} nodes" if self.nodes > 1 else "no node"
        return f"{head} takes the pod: {', '.join(said)}" if said else f"{head} takes the pod"

    def _advice(self, example: ObjectName, /) -> str:
        fixes = [obstacle.fix for obstacle, _ in self.obstacles[:_MOST_OBSTACLES]]
        if self.lacking:
            fixes.append("ask for less, scale something down or add a node")
        if not fixes:
            return f"kubectl describe {example} {example.in_namespace}; kubectl get nodes"
        return "; or ".join(dict.fromkeys(fixes))


def no_node_fits(pod: Pod, nodes: Mapping[str, Node] | None, words: str) -> NoNodeFits:
    """Return why no node takes a pod; *words* are the scheduler's, *nodes* None if not known."""
    # What follows the first sentence is about preemption.
    said = _HEAD.sub("", words.strip()).partition(". ")[0].rstrip(".")
    lacking = tuple(sorted({found["resource"] for found in _INSUFFICIENT.finditer(said)}))
    if nodes is None:
        return NoNodeFits(nodes=_counted_nodes(words), words=said, lacking=())
    asked = requests_of(pod)
    found: Counter[Obstacle] = Counter()
    for node in nodes.values():
        obstacle = next(_obstacles(pod, node, asked, nodes), None)
        if obstacle is not None:
            found[obstacle] += 1
    others = len(nodes) - sum(found.values())
    rest = [part for part in said.split(", ") if not _TOLD_BY_NODES.match(part)]
    return NoNodeFits(
        nodes=len(nodes),
        obstacles=tuple(found.most_common()),
        lacking=lacking if others else (),
        words=", ".join(rest) if others or not nodes else "",
    )


def _counted_nodes(words: str) -> int:
    found = re.match(r"\d+/(\d+) nodes", words.strip())
    return int(found[1]) if found else 0


def _obstacles(
    pod: Pod, node: Node, asked: Mapping[str, Quantity], nodes: Mapping[str, Node]
) -> Iterator[Obstacle]:
    labels = node.metadata.labels
    for key, value in pod.spec.node_selector.items():
        if labels.get(key) != value:
            yield Obstacle(
                some=f"without the label {key}={value} of its nodeSelector",
                every=f"none has the label {key}={value} of its nodeSelector",
                fix=f"label a node: kubectl label node NODE {key}={value}",
            )
    required = _required(pod)
    if required is not None and not selects(required, node):
        yield Obstacle(
            some=f"other than its nodeAffinity requires ({selector_text(required)})",
            every=f"none is as its nodeAffinity requires ({selector_text(required)})",
            fix="label a node so, or change the nodeAffinity of the pod",
        )
    for taint in _taints(node):
        if not any(_tolerates(each, taint) for each in pod.spec.tolerations):
            yield _taint_obstacle(taint)
    for resource, amount in asked.items():
        there = _amount(node.status.allocatable.get(resource, "0"))
        if amount > there and node.status.allocatable:
            largest = max(
                _amount(each.status.allocatable.get(resource, "0")) for each in nodes.values()
            )
            yield Obstacle(
                some=f"too small for its {amount} {resource}",
                every=f"it asks for {amount} {resource}, and the largest node has {largest}",
                fix=f"ask for less {resource}, or add a larger node",
            )


def _required(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    nodes = None if affinity is None else affinity.node_affinity
    return None if nodes is None else nodes.required_during_scheduling_ignored_during_execution


def _taints(node: Node) -> Iterator[Taint]:
    if node.spec.unschedulable and not any(each.key == CORDONED for each in node.spec.taints):
        yield Taint(key=CORDONED, effect="NoSchedule")
    yield from (each for each in node.spec.taints if each.effect != "PreferNoSchedule")


def _taint_obstacle(taint: Taint) -> Obstacle:
    if taint.key == CORDONED:
        return Obstacle(some="cordoned", every="all are cordoned", fix="kubectl uncordon NODE")
    text = f"{taint.key}={taint.value}" if taint.value else taint.key
    return Obstacle(
        some=f"with the taint {text}:{taint.effect}, which it does not tolerate",
        every=f"all have the taint {text}:{taint.effect}, which it does not tolerate",
        fix=f"tolerate it in spec.tolerations, or: kubectl taint node NODE {taint.key}-",
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in {"", taint.effect}:
        return False
    if toleration.operator == "Exists":
        return toleration.key in {"", taint.key}
    return toleration.key == taint.key and toleration.value == taint.value


def selects(selector: NodeSelector, node: Node) -> bool:
    """Tell whether a node has what one of the terms asks for; an empty term asks for nothing."""
    labels, fields = node.metadata.labels, {_NAME: node.metadata.name}
    return any(
        all(_holds(each, labels) for each in term.match_expressions)
        and all(_holds(each, fields) for each in term.match_fields)
        for term in selector.node_selector_terms
        if term != NodeSelectorTerm()
    )


def _holds(requirement: NodeSelectorRequirement, values: Mapping[str, str]) -> bool:
    value = values.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:  # Gt and Lt
            return _compares(requirement, value)


def _compares(requirement: NodeSelectorRequirement, value: str | None) -> bool:
    try:
        number, limit = int(value or ""), int("".join(requirement.values))
    except ValueError:
        return False
    return number > limit if requirement.operator == "Gt" else number < limit


def selector_text(selector: NodeSelector) -> str:
    """Return what a selector asks for, for people."""
    return " or ".join(
        " and ".join(map(_requirement_text, (*term.match_expressions, *term.match_fields)))
        for term in selector.node_selector_terms
    )


def _requirement_text(requirement: NodeSelectorRequirement) -> str:
    values = ", ".join(requirement.values)
    match requirement.operator:
        case "In" if len(requirement.values) == 1:
            return f"{requirement.key}={values}"
        case "In" | "NotIn" as operator:
            return f"{requirement.key} {operator.lower()} ({values})"
        case operator:
            return f"{requirement.key} {operator} {values}".rstrip()


def requests_of(pod: Pod) -> Mapping[str, Quantity]:
    """Return what a pod asks of a node: all containers together, or one that comes before them.

    Upstream: component-helpers/resource/helpers.go, PodRequests
    """
    together: dict[str, Quantity] = {}
    before: dict[str, Quantity] = {}
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            _add(together, container.resources.requests)
            alone = dict(together)
        else:
            alone = dict(together)
            _add(alone, container.resources.requests)
        for resource, amount in alone.items():
            before[resource] = max(before.get(resource, amount), amount)
    for container in pod.spec.containers:
        _add(together, container.resources.requests)
    for resource, amount in before.items():
        together[resource] = max(together.get(resource, amount), amount)
    if pod.spec.resources is not None:
        together |= {name: _amount(text) for name, text in pod.spec.resources.requests.items()}
    _add(together, pod.spec.overhead)
    return together


def _add(total: dict[str, Quantity], amounts: Mapping[str, str]) -> None:
    for resource, text in amounts.items():
        amount = _amount(text)
        total[resource] = total[resource] + amount if resource in total else amount


def _amount(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except ParseError:
        return Quantity()
