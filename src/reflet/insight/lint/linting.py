"""All rules on all objects of the files; a finding is told once."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.services import Service
from reflet.api.frozen import EMPTY
from reflet.errors import RefletError
from reflet.insight.fixes import Advice, KnownNames
from reflet.insight.lint.assumptions import NOTHING, Assumptions
from reflet.insight.lint.existence_checks import missing_objects, named_objects
from reflet.insight.lint.object_checks import (
    changed_immutables,
    duplicates,
    plain_secrets,
    repeated_keys,
    unused_objects,
)
from reflet.insight.lint.object_register import ObjectRegister
from reflet.insight.lint.objects_meant import ObjectsMeant
from reflet.insight.lint.pod_checks import broken_references, refused_objects
from reflet.insight.lint.rules import RULES, Finding, Rule
from reflet.insight.lint.selector_checks import selectors
from reflet.insight.lint.shadowing_checks import hidden_files, mounts, shadowed_variables
from reflet.insight.lint.sidecar_checks import picked_up, sidecars_in
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.insight.pod_problems import problems_of
from reflet.insight.reference_table import Tables
from reflet.resolution.objects import ObjectKey
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.references.placed_objects import PlacedObject, PlacedObjects
from reflet.resolution.references.references import references_of
from reflet.resolution.resource_fields import UNKNOWN_NODE

Others = Mapping[tuple[str, str, str], bool | RefletError]
"""Whether a cluster has an object of a kind, namespace and name, or why that is not known."""
NO_ROWS: Final = Tables()
Live = Mapping[ObjectKey, ConfigMap | Secret | RefletError]
"""What a cluster answered for an object: the object, or why there is none."""


def lint(
    subjects: Subjects | Iterable[Subject],
    *,
    live: Live = EMPTY,
    others: Others = EMPTY,
    chosen: Iterable[Rule] = RULES,
    assume: Assumptions = NOTHING,
    more: Tables = NO_ROWS,
) -> tuple[Finding, ...]:
    """Return what the objects of the files do wrong, in the order of the files.

    ``live`` is what a cluster has; files win, as they would once they are applied.  ``others``
    tells of further objects, by kind, namespace and name, whether the cluster has them.  What is in
    neither and is assumed to exist, or made by another system, is not missing.  ``more`` are rows
    about custom resources that name or make ConfigMaps and Secrets, besides those that are known.
    """
    every = subjects if isinstance(subjects, Subjects) else Subjects(subjects)
    wanted = frozenset(chosen)
    register = ObjectRegister(every, others, assume, more)
    found = {
        (finding.rule.id, finding.file, finding.subject, finding.message, finding.path): finding
        for finding in _findings(every, live, register)
        if finding.rule in wanted
    }
    return tuple(sorted(found.values(), key=lambda finding: finding.rank))


def wanted_from_cluster(subjects: Subjects | Iterable[Subject]) -> tuple[ObjectKey, ...]:
    """Return the objects to ask a cluster for: what pods name, and what may be immutable."""
    every = subjects if isinstance(subjects, Subjects) else Subjects(subjects)
    wanted: dict[ObjectKey, None] = dict.fromkeys(every.known())
    for _, pod in every.pods():
        for reference in references_of(pod):
            wanted[reference.kind, pod.metadata.namespace, reference.name] = None
    return tuple(wanted)


def others_wanted(subjects: Subjects) -> tuple[tuple[str, str, str], ...]:
    """Return what pods name besides configuration and the files do not have, to ask a cluster."""
    there = {(each.kind, each.namespace, each.name) for each in subjects.every}
    named = (key for _, pod in subjects.pods() for key in named_objects(pod))
    return tuple(dict.fromkeys(key for key in named if key not in there))


def _findings(subjects: Subjects, live: Live, register: ObjectRegister) -> Iterator[Finding]:
    for subject in subjects.every:
        if subject.object is None:
            yield from refused_objects(subject)
    yield from repeated_keys(subjects)
    yield from duplicates(subjects)
    objects = PlacedObjects(
        PlacedObject(subject.place, item) for subject, item in subjects.configurations()
    )
    yield from _pod_findings(subjects, objects, live, register)
    yield from selectors(subjects)
    for subject, item in subjects.configurations():
        theirs = live.get((item.kind, item.metadata.namespace, item.metadata.name))
        if not isinstance(theirs, RefletError):
            yield from changed_immutables(subject, item, theirs)
    yield from plain_secrets(subjects)
    sidecars = sidecars_in(subjects, lambda subject: ObjectsMeant(objects, subject, register, live))
    yield from picked_up(subjects, sidecars)
    yield from unused_objects(subjects, register, sidecars)


def _pod_findings(
    subjects: Subjects, objects: PlacedObjects, live: Live, register: ObjectRegister
) -> Iterator[Finding]:
    known = KnownNames((*subjects.known(), *_found(live)))
    services: dict[str, list[Service]] = {}
    for service in subjects.services():
        services.setdefault(service.metadata.namespace, []).append(service)
    for subject, pod in subjects.pods():
        problems = problems_of(
            PodInputs(
                pod=pod,
                objects=ObjectsMeant(objects, subject, register, live),
                services=tuple(services.get(pod.metadata.namespace, ())),
                node=UNKNOWN_NODE,
                made_elsewhere=partial(register.is_elsewhere, subject),
            )
        )
        advice = Advice(known=known, environments=problems.environments)
        yield from broken_references(subject, problems, advice)
        exists = partial(register.exists, subject)
        yield from missing_objects(subject, pod, exists, register)
        yield from shadowed_variables(subject, problems)
        yield from hidden_files(subject, problems)
        yield from mounts(subject, problems)


def _found(live: Live) -> Iterator[ObjectKey]:
    for key, answer in live.items():
        if not isinstance(answer, RefletError):
            yield key
