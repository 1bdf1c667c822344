"""What ``insight.why`` looks at, from files alone: pods and workloads as if they were applied.

What others make is not missing, as for lint, by the same code.  Files that come out of a cluster
(``kubectl get pods,events -o yaml``) hold statuses of pods, events and nodes as well; these are
looked at, and how old they are is not known.  What they hold is all that the cluster has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, final

from reflet.api.core.small_kinds import Event
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ConfigurationError, Invalid, RefletError
from reflet.insight.fixes import listed
from reflet.insight.lint.assumptions import NOTHING, Assumptions
from reflet.insight.lint.existence_checks import named_objects
from reflet.insight.lint.linting import NO_ROWS
from reflet.insight.lint.object_register import ObjectRegister
from reflet.insight.lint.objects_meant import ObjectsMeant
from reflet.insight.reference_table import Tables
from reflet.insight.why import needs
from reflet.insight.why.cluster_state import ClusterState, NamedKey
from reflet.insight.why.reasons import ObjectName
from reflet.manifests.applied import AppliedManifests
from reflet.manifests.applying import read_applied
from reflet.manifests.files import Sources, SourceText
from reflet.manifests.pod_targets import PodTarget, choose_pod, is_called, pod_targets
from reflet.podconfig.gather_files import FILES_NAMESPACE, OnFile, inputs_of_every_pod
from reflet.podconfig.gather_lint import documented_beside, subjects_of
from reflet.podconfig.gather_why_targets import WhyTarget
from reflet.resolution.pod_inputs import PodInputs, RefusedObject
from reflet.resolution.references.references import references_of
from reflet.resolution.templates.templates import POD_KINDS, Workload, pod_resource

_KINDS: Final = frozenset(
    {"ServiceAccount", "PriorityClass", "RuntimeClass", "PersistentVolumeClaim"}
)


def cluster_state_from_files(
    paths: Sources | Sequence[str],
    targets: Sequence[WhyTarget] = (),
    *,
    namespace: str = "",
    selector: str = "",
    skip_invalid_names: bool = False,
    assume: Assumptions = NOTHING,
    more: Tables = NO_ROWS,
    on_file: OnFile | None = None,
) -> ClusterState:
    """Take *targets*, or every pod and workload, of files.

    *namespace* is that of objects which name none, and leaves out pods of others; *selector* leaves
    only pods, and workloads whose pods have these labels.  *assume* and *more* are those of
    ``lint``: what is taken to exist, and rows about what makes it.  *on_file* is called for every
    text that is read.

    Raises ConfigurationError and DecodeError for mistakes in files or names.  Pods and workloads
    that an API server would refuse are among the ``refusals``.
    """

    def told(_: SourceText) -> None:
        if on_file is not None:
            on_file(1)

    applied = read_applied(paths, namespace=namespace or FILES_NAMESPACE, on_text=told)
    names = _names(applied, targets, namespace) if targets else None
    refusals = [
        each
        for each in _refused(applied)
        if (not namespace or each.namespace == namespace)
        and (_refused_name(each) in names if names is not None else not selector)
    ]
    others = _WhatOthersMake(applied, paths, assume, more)
    every = [others.added_to(each) for each in _inputs(applied, namespace, refusals)]
    # What has a uid comes from a cluster, status and all; the rest is only to be made.
    workloads = [each for each in applied.workloads() if each.metadata.uid]
    live = [each for each in every if each.kind == "Pod" and each.pod.metadata.uid]
    if selector:
        labels = LabelSelector.parse(selector)
        names = needs.roots_with(labels, workloads, [each.pod for each in live])
        names |= {_name(each) for each in every if labels.matches(each.pod.metadata.labels)}
    pods, below = needs.below(names, workloads, [each.pod for each in live])
    seen = _names_of(workloads) - _names_of(needs.templates_to_look_at(below, pods))
    templates = [
        replace(each, skip_invalid_names=skip_invalid_names)
        for each in every
        if each not in live and _name(each) not in seen and (names is None or _name(each) in names)
    ]
    if not templates and not pods and not refusals:
        raise ConfigurationError(f"no pod or workload of the files has {selector}")
    events = _events(applied)
    absent, present = _prerequisites(applied, templates, others)
    return ClusterState(
        pods=[
            replace(each, events=events.get(_name(each), ()), skip_invalid_names=skip_invalid_names)
            for each in live
            if each.pod in pods
        ],
        templates=templates,
        workloads=below,
        events=[each for found in events.values() for each in found],
        nodes=applied.nodes() or None,
        absent=absent,
        present=present,
        from_files=True,
        refusals=tuple(refusals),
        targets=names,
        remarks=(
            *dict.fromkeys(remark for each in every for remark in each.remarks),
            *others.remarks_on(templates),
        ),
    )


@final
class _WhatOthersMake:
    """What is not in the files and not missing: lint's knowledge, of each pod of the files."""

    def __init__(
        self,
        applied: AppliedManifests,
        paths: Sources | Sequence[str],
        assume: Assumptions,
        more: Tables,
    ) -> None:
        subjects = subjects_of(applied, documented_beside(paths))
        self._objects = applied.configurations
        self._register = ObjectRegister(subjects, {}, assume, more)
        # A cluster has made what its own objects need, or it is missing.
        self._subjects = {
            (each.place, each.kind, each.name): each
            for each in subjects.every
            if each.object is not None and not each.object.metadata.uid
        }

    def added_to(self, inputs: PodInputs) -> PodInputs:
        subject = self._subjects.get((inputs.place, inputs.kind, inputs.name))
        if subject is None:
            return inputs
        return replace(
            inputs,
            objects=ObjectsMeant(self._objects, subject, self._register),
            made_elsewhere=partial(self._register.is_elsewhere, subject),
        )

    def exists(self, inputs: PodInputs, key: NamedKey) -> bool:
        """Tell whether there is what a pod cannot be made or placed without."""
        subject = self._subjects.get((inputs.place, inputs.kind, inputs.name))
        return subject is not None and self._register.exists(subject, *key)

    def remarks_on(self, found: Sequence[PodInputs]) -> Iterator[str]:
        """Say in one line which of their ConfigMaps and Secrets are taken to exist."""
        taken = [*dict.fromkeys(text for each in found for text in _taken_to_exist(each))]
        if taken:
            what = "1 object" if len(taken) == 1 else f"{len(taken)} objects"
            them = "it" if len(taken) == 1 else "them"
            yield f"{what} taken to exist because others make {them}: {listed(taken)}"


def _taken_to_exist(inputs: PodInputs) -> Iterator[str]:
    objects, made_elsewhere = inputs.objects, inputs.made_elsewhere
    if objects is None or made_elsewhere is None:
        return
    for each in references_of(inputs.pod):
        read = objects.secret if each.kind == "Secret" else objects.config_map
        is_there = not isinstance(read(inputs.namespace, each.name), RefletError)
        if not is_there and made_elsewhere(each.kind, inputs.namespace, each.name, ""):
            yield f"{each.kind} {each.name}"


def _events(applied: AppliedManifests) -> dict[ObjectName, tuple[Event, ...]]:
    found: dict[ObjectName, tuple[Event, ...]] = {}
    for item in applied.objects:
        if isinstance(item.object, Event):
            about = item.object.involved_object
            namespace = item.object.metadata.namespace
            name = ObjectName(kind=about.kind, namespace=namespace, name=about.name)
            found[name] = (*found.get(name, ()), item.object)
    return found


def _names_of(workloads: Sequence[Workload]) -> frozenset[ObjectName]:
    return frozenset(ObjectName.of(each.kind, each.metadata) for each in workloads)


def _inputs(
    applied: AppliedManifests, namespace: str, refusals: Sequence[RefusedObject]
) -> list[PodInputs]:
    try:
        return inputs_of_every_pod(applied, namespace=namespace)
    except ConfigurationError:
        if refusals:
            return []
        raise


def _names(
    applied: AppliedManifests, targets: Sequence[WhyTarget], namespace: str
) -> frozenset[ObjectName]:
    """Return what is meant; raises ConfigurationError, with what there is, for what is not."""
    every = [*pod_targets(applied)]
    names: set[ObjectName] = set()
    for target in targets:
        found = [
            ObjectName(kind=each.kind, namespace=each.namespace, name=each.name)
            for each in every
            if target.name is None and _is_of_type(each, target.type)
        ]
        if not found:
            try:
                each = choose_pod(applied, target, namespace or None)
            except Invalid as refusal:
                found = [
                    _refused_name(each)
                    for each in _refused(applied)
                    if (each.kind, each.name) == (refusal.kind, refusal.name)
                ]
            else:
                found = [ObjectName(kind=each.kind, namespace=each.namespace, name=each.name)]
        names.update(found)
    return frozenset(names)


def _is_of_type(target: PodTarget, text: str) -> bool:
    if target.resource is not None:
        return is_called(text, target.resource)
    try:
        return pod_resource(text).kind == target.kind
    except ConfigurationError:
        return False


def _name(inputs: PodInputs) -> ObjectName:
    return ObjectName(kind=inputs.kind, namespace=inputs.namespace, name=inputs.name)


def _refused(applied: AppliedManifests) -> Iterator[RefusedObject]:
    for each in applied.refusals:
        if each.kind in POD_KINDS:
            yield RefusedObject(each.place, each.kind, each.namespace, each.name, each.message)


def _refused_name(refused: RefusedObject) -> ObjectName:
    return ObjectName(kind=refused.kind, namespace=refused.namespace, name=refused.name)


def _prerequisites(
    applied: AppliedManifests, found: Sequence[PodInputs], others: _WhatOthersMake
) -> tuple[frozenset[NamedKey], frozenset[NamedKey]]:
    """Return what pods cannot be made or placed without, and the files do not have; and have."""
    present = frozenset(
        (each.object.kind, each.object.metadata.namespace, each.object.metadata.name)
        for each in applied.objects
        if each.object.kind in _KINDS
    )
    named = {
        key for each in found for key in named_objects(each.pod) if not others.exists(each, key)
    }
    return frozenset(named - present), present
