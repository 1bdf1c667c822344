"""What has to be looked at besides workloads, pods and events, so that nobody asks for more.

Whoever gathers lists first what was asked about; these functions then say what else it takes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from reflet.api.core.pods import Pod
from reflet.api.core.workloads import CronJob, Deployment, Job, ReplicaSet, StatefulSet
from reflet.api.selectors.labels import LabelSelector
from reflet.insight.lint.existence_checks import named_objects
from reflet.insight.why.claim_reasons import claims_of
from reflet.insight.why.cluster_state import ClusterState, NamedKey, StateView, controller_of
from reflet.insight.why.pod_makers import wanted_by
from reflet.insight.why.reasons import ObjectName
from reflet.insight.why.rollout_stands import revision_of
from reflet.insight.why.signals import runs_well
from reflet.resolution.templates.templates import CustomWorkload, Workload, pod_of, template_of

_CLAIM: Final = "PersistentVolumeClaim"
_FINISHED: Final = frozenset({"Complete", "Failed"})


def templates_to_look_at(workloads: Sequence[Workload], pods: Iterable[Pod]) -> list[Workload]:
    """Return the workloads whose template no pod shows: it has none yet, or only older ones."""
    makers = {owner.uid for pod in pods if (owner := controller_of(pod.metadata)) is not None}
    newest: dict[str, ReplicaSet] = {}
    for each in workloads:
        owner = controller_of(each.metadata)
        if isinstance(each, ReplicaSet) and owner is not None:
            known = newest.get(owner.uid)
            if known is None or revision_of(each) > revision_of(known):
                newest[owner.uid] = each
    return [each for each in workloads if _is_unseen(each, newest, makers)]


def _is_unseen(workload: Workload, newest: dict[str, ReplicaSet], makers: set[str]) -> bool:
    uid = workload.metadata.uid
    match workload:
        case Deployment() | CustomWorkload():
            made = newest.get(uid)
            return uid not in makers and (made is None or made.metadata.uid not in makers)
        case CronJob():
            return True  # its next job is made from it
        case Job() if any(each.type in _FINISHED for each in workload.status.conditions):
            return False
        case Job() | ReplicaSet():
            return uid not in makers and controller_of(workload.metadata) is None
        case _:
            return uid not in makers


def prerequisites(workloads: Iterable[Workload], pods: Iterable[Pod]) -> Iterator[NamedKey]:
    """Yield what new pods cannot be made without: of workloads, and of pods that nobody owns."""
    made = (pod_of(each) for each in workloads if controller_of(each.metadata) is None)
    alone = (each for each in pods if controller_of(each.metadata) is None)
    for pod in (*made, *alone):
        yield from (key for key in named_objects(pod) if key[0] != _CLAIM)


def claims_named(workload: Workload | None, pod: Pod) -> Iterator[NamedKey]:
    """Yield the claims that must be there; those that a StatefulSet makes itself are left out."""
    own: frozenset[str] = frozenset()
    if isinstance(workload, StatefulSet):
        own = frozenset(each.metadata.name for each in workload.spec.volume_claim_templates)
    for volume in pod.spec.volumes:
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name and volume.name not in own:
            yield _CLAIM, pod.metadata.namespace, claim.claim_name


def roots_with(
    selector: LabelSelector, workloads: Sequence[Workload], pods: Sequence[Pod]
) -> frozenset[ObjectName]:
    """Return the workloads and pods to speak of that have labels, or whose pods have them."""
    view = StateView(ClusterState(workloads=workloads))
    found = [
        view.root_of(each.kind, each.metadata)
        for each in workloads
        if selector.matches(each.metadata.labels)
        or selector.matches(template_of(each).metadata.labels)
    ]
    found += [
        view.root_of("Pod", each.metadata)
        for each in pods
        if selector.matches(each.metadata.labels)
    ]
    return frozenset(found)


def below(
    targets: frozenset[ObjectName] | None, workloads: Sequence[Workload], pods: Sequence[Pod]
) -> tuple[Sequence[Pod], Sequence[Workload]]:
    """Return the pods and workloads that are targets or belong to one; all of them without any."""
    if targets is None:
        return pods, workloads
    view = StateView(ClusterState(workloads=workloads, targets=targets))
    return (
        [each for each in pods if view.root_of("Pod", each.metadata) in targets],
        [each for each in workloads if view.root_of(each.kind, each.metadata) in targets],
    )


def scheduler_words(pod: Pod) -> str:
    """Return what the scheduler says of a pod that no node takes; empty if nothing."""
    return next(
        (
            each.message
            for each in pod.status.conditions
            if each.type == "PodScheduled" and each.status == "False"
        ),
        "",
    )


def is_troubled(pod: Pod) -> bool:
    """Tell whether a pod does not run as it should, so that its node may be the cause."""
    if pod.status.phase in {"Succeeded", "Failed"}:
        return False
    called_ready = all(
        each.status != "False" for each in pod.status.conditions if each.type == "Ready"
    )
    return not (runs_well(pod) and called_ready and pod.metadata.deletion_timestamp is None)


def waits_for_claims(pod: Pod) -> bool:
    """Tell whether a pod has no node and mounts claims."""
    return not pod.spec.node_name and any(True for _ in claims_of(pod))


def lacks_pods(workload: Workload) -> bool:
    """Tell whether a workload has fewer pods than it wants, so that a quota may be the cause."""
    match workload:
        case CronJob() | CustomWorkload():
            return False
        case Job():
            return not workload.status.active and not any(
                each.type in _FINISHED for each in workload.status.conditions
            )
        case Deployment():
            return workload.status.replicas < wanted_by(workload)
        case _:
            there = (
                workload.status.current_number_scheduled
                if workload.kind == "DaemonSet"
                else workload.status.replicas
            )
            return there < wanted_by(workload)
