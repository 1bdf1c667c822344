"""Services and disruption budgets beside the pods of the files: selectors and names of ports.

A selector is judged only where its author's pods are at hand: in the same file, or elsewhere with
all labels but one.  What a kustomization changes, or a custom resource may make, is not judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, final

from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.insight.fixes import listed, near_miss
from reflet.insight.lint import rules
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.resolution.places import containers_of

Labels = Mapping[str, str]

SYSTEM: Final = "kube-system"
"""Where pods of the control plane are, which are in nobody's files."""
BY_CONTROLLERS: Final = frozenset(
    {
        *("apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"),
        *("controller-revision-hash", "pod-template-hash", "job-name", "controller-uid"),
        *("batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"),
    }
)
"""Labels that controllers add, one value to each pod."""


class _Selector(NamedTuple):
    subject: Subject
    labels: Labels


_Placed = tuple[Subject, Pod]


def selectors(subjects: Subjects) -> Iterator[Finding]:
    """Yield selectors that match no pod, and names of ports that no matched container has."""
    pods = _PodsByLabel(subjects)
    customs = [each.object for each in subjects.every if _may_make_pods(each)]
    for selector in _selectors(subjects):
        matched = pods.matched_by(selector)
        if matched:
            if not any(subject.is_changed for subject, _ in matched):
                yield from _port_names(selector.subject, [pod for _, pod in matched])
        elif not any(_could_match(selector.labels, custom) for custom in customs):
            near = [
                subject for subject, pod in pods.near(selector) if _is_near(selector, subject, pod)
            ]
            if near:
                yield _matches_nothing(selector, near)


@final
class _PodsByLabel:
    """Pods to be found by a label or by their file, so that nobody goes through all of them."""

    def __init__(self, subjects: Subjects) -> None:
        self._by_label: dict[tuple[str, str, str], list[_Placed]] = {}
        self._by_file: dict[tuple[str, str], list[_Placed]] = {}
        for placed in subjects.pods():
            subject, pod = placed
            namespace = pod.metadata.namespace
            self._by_file.setdefault((namespace, subject.file), []).append(placed)
            for key, value in pod.metadata.labels.items():
                self._by_label.setdefault((namespace, key, value), []).append(placed)

    def matched_by(self, selector: _Selector) -> list[_Placed]:
        key, value = next(iter(selector.labels.items()))
        candidates = self._by_label.get((selector.subject.namespace, key, value), ())
        return [placed for placed in candidates if _lacks(selector, placed[1]) == 0]

    def near(self, selector: _Selector) -> list[_Placed]:
        """Return the pods of the same file, and those that have one of two labels at least."""
        namespace = selector.subject.namespace
        found = [*self._by_file.get((namespace, selector.subject.file), ())]
        if len(selector.labels) > 1:
            for key, value in [*selector.labels.items()][:2]:
                found += self._by_label.get((namespace, key, value), ())
        return found


def _lacks(selector: _Selector, pod: Pod) -> int:
    """Count the labels of the selector that the pod does not have."""
    labels = pod.metadata.labels
    return sum(labels.get(key) != value for key, value in selector.labels.items())


def _is_near(selector: _Selector, subject: Subject, pod: Pod) -> bool:
    if isinstance(subject.object, AnyObject):
        return False  # its operator adds labels that nobody sees here
    labels = pod.metadata.labels
    if subject.file == selector.subject.file and selector.subject.kind == "Service":
        # Labels that no pod has may be set while it runs, as that of a leader.
        return selector.labels.keys() <= labels.keys()
    if len(selector.labels) < 2 and subject.file != selector.subject.file:
        return False
    if _lacks(selector, pod) != 1:
        return False
    (key,) = (key for key, value in selector.labels.items() if labels.get(key) != value)
    return key in labels and near_miss(selector.labels[key], [labels[key]]) is not None


def _selectors(subjects: Subjects) -> Iterator[_Selector]:
    for subject in subjects.every:
        if subject.is_changed or subject.namespace == SYSTEM:
            continue
        found = subject.object
        labels: Any = None
        if isinstance(found, Service) and found.spec.type != "ExternalName":
            labels = found.spec.selector
        elif isinstance(found, AnyObject) and found.kind == "PodDisruptionBudget":
            selector = found.spec.get("selector")
            if isinstance(selector, Mapping) and not selector.get("matchExpressions"):
                labels = selector.get("matchLabels")
        if isinstance(labels, Mapping):
            known = {key: value for key, value in labels.items() if key not in BY_CONTROLLERS}
            if known:
                yield _Selector(subject, known)


def _matches(selector: Labels, labels: Labels) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())


def _may_make_pods(subject: Subject) -> bool:
    found = subject.object
    return isinstance(found, AnyObject) and not belongs_to_kubernetes(group_of(found.api_version))


def _could_match(selector: Labels, value: Any) -> bool:
    """Tell whether a custom resource holds all the labels somewhere, as what makes pods does."""
    content = value.content if isinstance(value, AnyObject) else value
    if isinstance(content, Mapping):
        return _matches(selector, content) or any(
            _could_match(selector, inner) for inner in content.values()
        )
    return isinstance(content, tuple) and any(_could_match(selector, inner) for inner in content)


def _matches_nothing(selector: _Selector, near: list[Subject]) -> Finding:
    shown = ", ".join(f"{key}={value}" for key, value in selector.labels.items())
    there = listed(dict.fromkeys(f"{each.kind} {each.name}" for each in near))
    return selector.subject.finding(
        rules.SELECTS_NOTHING,
        f"the selector {shown} of {selector.subject} matches no pod",
        path="spec.selector",
        fix=f"use labels that the pods have; beside it are {there}",
    )


def _port_names(subject: Subject, pods: list[Pod]) -> Iterator[Finding]:
    service = subject.object
    if not isinstance(service, Service):
        return
    there = {
        port.name
        for pod in pods
        for placed in containers_of(pod.spec)
        for port in placed.container.ports
        if port.name
    }
    for index, port in enumerate(service.spec.ports):
        name = port.target_port
        if isinstance(name, str) and name and name not in there:
            yield subject.finding(
                rules.UNKNOWN_PORT_NAME,
                f"no container behind {subject} has a port named {name}",
                path=f"spec.ports[{index}].targetPort",
                fix=f"the ports there are {listed(sorted(there))}"
                if there
                else "use the port's number, or name it in the container",
            )
