"""All rules on all objects of the files; a finding is told once."""

from collections.abc import Iterable, Iterator, Mapping
from typing import final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.frozen import EMPTY
from reflet.errors import NotFound, RefletError
from reflet.insight.fixes import Advice
from reflet.insight.lint.assumptions import NOTHING, Assumptions
from reflet.insight.lint.object_checks import changed_immutables, plain_secrets, unused_objects
from reflet.insight.lint.pod_checks import broken_references, refused_objects
from reflet.insight.lint.rules import RULES, Finding, Rule
from reflet.insight.lint.shadowing_checks import hidden_files, mounts, shadowed_variables
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.insight.pod_problems import problems_of
from reflet.resolution.objects import ConfigKind, ObjectKey, missing
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.references import references_of
from reflet.resolution.resource_fields import UNKNOWN_NODE

Live = Mapping[ObjectKey, ConfigMap | Secret | RefletError]
"""What a cluster answered for an object: the object, or why there is none."""


def lint(
    subjects: Iterable[Subject],
    *,
    live: Live = EMPTY,
    chosen: Iterable[Rule] = RULES,
    assume: Assumptions = NOTHING,
) -> tuple[Finding, ...]:
    """Return what the objects of the files do wrong, in the order of the files.

    ``live`` is what a cluster has; files win, as they would once they are applied.  What is in
    neither and is assumed to exist is not missing.
    """
    every = Subjects(subjects)
    wanted = frozenset(chosen)
    found = {
        (finding.rule.id, finding.subject, finding.message, finding.path): finding
        for finding in _findings(every, live, assume)
        if finding.rule in wanted
    }
    return tuple(sorted(found.values(), key=lambda finding: finding.rank))


def wanted_from_cluster(subjects: Iterable[Subject]) -> tuple[ObjectKey, ...]:
    """Return the objects to ask a cluster for: what pods name, and what may be immutable."""
    every = Subjects(subjects)
    wanted: dict[ObjectKey, None] = dict.fromkeys(every.known())
    for _, pod in every.pods():
        for reference in references_of(pod):
            wanted[reference.kind, pod.metadata.namespace, reference.name] = None
    return tuple(wanted)


def _findings(subjects: Subjects, live: Live, assume: Assumptions) -> Iterator[Finding]:
    for subject in subjects.every:
        if subject.object is None:
            yield from refused_objects(subject)
    advice_on_names = (*subjects.known(), *_found(live))
    objects = _FilesThenCluster(subjects, live, assume)
    for subject, pod in subjects.pods():
        problems = problems_of(
            PodInputs(pod=pod, objects=objects, services=subjects.services(), node=UNKNOWN_NODE)
        )
        advice = Advice(known=advice_on_names, environments=problems.environments)
        yield from broken_references(subject, problems, advice, assume)
        yield from shadowed_variables(subject, problems)
        yield from hidden_files(subject, problems)
        yield from mounts(subject, problems)
    for subject, item in subjects.configurations():
        theirs = live.get((item.kind, item.metadata.namespace, item.metadata.name))
        if not isinstance(theirs, RefletError):
            yield from changed_immutables(subject, item, theirs)
    yield from plain_secrets(subjects)
    yield from unused_objects(subjects)


def _found(live: Live) -> Iterator[ObjectKey]:
    for key, answer in live.items():
        if not isinstance(answer, RefletError):
            yield key


@final
class _FilesThenCluster:
    """A source of objects: those of the files, and for others what the cluster answered.

    What is assumed to exist cannot be read, so that nothing is said about what is in it.
    """

    __slots__ = ("_assume", "_items", "_live")

    def __init__(self, subjects: Subjects, live: Live, assume: Assumptions) -> None:
        self._items: dict[ObjectKey, ConfigMap | Secret] = {
            (item.kind, item.metadata.namespace, item.metadata.name): item
            for _, item in subjects.configurations()
        }
        self._live = live
        self._assume = assume

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        answer = self._answer("ConfigMap", namespace, name)
        return answer if isinstance(answer, ConfigMap | RefletError) else missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        answer = self._answer("Secret", namespace, name)
        return answer if isinstance(answer, Secret | RefletError) else missing("Secret", name)

    def _answer(
        self, kind: ConfigKind, namespace: str, name: str
    ) -> ConfigMap | Secret | RefletError:
        key: ObjectKey = (kind, namespace, name)
        answer = self._items.get(key) or self._live.get(key) or missing(kind, name)
        if not isinstance(answer, NotFound):
            return answer
        if self._assume.has(kind, namespace, name):
            return RefletError(f"{kind} {name} is assumed to exist")
        # The cluster's words name its resource in the plural; the kubelet's caches do not.
        return missing(kind, name)
