"""How a workload stands, whatever its kind, and why it has not the pods that it should have.

What its pods themselves show is ``pod_reasons``.
"""

from collections.abc import Sequence

from reflet.api.core.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from reflet.insight.why.cluster_state import StateView
from reflet.insight.why.job_stands import look_at_cron_job, look_at_job
from reflet.insight.why.pod_makers import (
    OwnPod,
    WorkloadStand,
    made_by,
    member_of,
    ready_of,
    wanted_by,
)
from reflet.insight.why.rollout_stands import look_at_deployment
from reflet.resolution.templates.templates import CustomWorkload, Workload


def look_at_workload(workload: Workload, pods: Sequence[OwnPod], view: StateView) -> WorkloadStand:
    """Return how a workload stands, whose pods are in hand."""
    match workload:
        case Deployment():
            return look_at_deployment(workload, pods, view)
        case CronJob():
            return look_at_cron_job(workload, pods, view)
        case Job():
            return look_at_job(workload, pods, view)
        case CustomWorkload():
            members = [each for each in view.owned_by(workload) if isinstance(each, ReplicaSet)]
            made = [made_by(each, pods, view) for each in members]
            summary = f"{sum(each.ready for each in pods)} of {len(pods)} pods are ready"
            return WorkloadStand(
                summary=summary,
                members=tuple(member_of(each, pods) for each in members),
                sightings=tuple(each for found, _ in made for each in found),
                unexplained=tuple(each for _, left in made for each in left),
            )
        case _:
            return _plain(workload, pods, view)


def _plain(
    maker: ReplicaSet | ReplicationController | StatefulSet | DaemonSet,
    pods: Sequence[OwnPod],
    view: StateView,
) -> WorkloadStand:
    found, left = made_by(maker, pods, view)
    wanted, ready = wanted_by(maker), ready_of(maker, pods, view)
    said = f"{ready} of {wanted} pods are ready"
    if isinstance(maker, DaemonSet):
        if not maker.status.observed_generation:
            said = "no controller has looked at it yet"
        elif not wanted:
            said = "no node is to have its pod"
        misplaced = maker.status.number_misscheduled
        said += f"; {misplaced} on nodes that are not to have one" if misplaced else ""
    elif not wanted:
        said = "scaled to 0"
    elif isinstance(maker, StatefulSet):
        said += _waiting_for(maker, pods, wanted)
    return WorkloadStand(
        summary=said, sightings=tuple(found), unexplained=tuple(left), idle=not wanted
    )


def _waiting_for(maker: StatefulSet, pods: Sequence[OwnPod], wanted: int) -> str:
    """Say which pod a StatefulSet waits for before it makes the next."""
    if maker.spec.pod_management_policy == "Parallel":
        return ""
    by_name = {each.pod.metadata.name: each for each in pods}
    start = maker.spec.ordinals.start
    names = [f"{maker.metadata.name}-{number}" for number in range(start, start + wanted)]
    absent = next((name for name in names if name not in by_name), None)
    unready = next((name for name in names if name in by_name and not by_name[name].ready), None)
    if absent is None or unready is None:
        return ""
    return f"; it waits for pod/{unready} before it makes {absent}"
