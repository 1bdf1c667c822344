"""Rolling the pods of workloads, as ``kubectl rollout restart`` does, and waiting for the end.

What decides is pure: ``refusal`` says why a workload is better left alone, ``progress`` how far a
rollout has come.  ``roll`` acts, one workload after the other.

Upstream: kubectl/pkg/polymorphichelpers/objectrestarter.go and rollout_status.go
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from reflet.api import resources
from reflet.api.options import PatchOptions
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.client.resource_client import ResourceClient
from reflet.controllers.object_writes import wait_for
from reflet.errors import RefletError
from reflet.gotext.times import time_text

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a template by which ``kubectl rollout restart`` changes it."""
ROLLED_KINDS: Final[Mapping[str, Resource]] = {
    each.kind: each
    for each in (resources.DEPLOYMENTS, resources.STATEFUL_SETS, resources.DAEMON_SETS)
}
"""What replaces its pods by itself when its template changes."""

_ARGO_CD: Final = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance")


class WorkloadName(NamedTuple):
    """A workload of a kind that can be rolled."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name} in {self.namespace}"


@dataclass(frozen=True, slots=True)
class RolloutProgress:
    """How far a rollout has come: it is ``done``, or ``stuck``, or goes on; in words."""

    text: str
    done: bool = False
    stuck: bool = False


def refusal(workload: AnyObject) -> str:
    """Say why a restart of the workload is not for us to make; empty when it is."""
    if workload.kind not in ROLLED_KINDS:
        return f"a {workload.kind} does not replace its pods by itself"
    metadata = workload.metadata
    if metadata.deletion_timestamp is not None:
        return "it is being deleted"
    if any(each in metadata.labels or each in metadata.annotations for each in _ARGO_CD):
        return "Argo CD manages it: restart it there (argocd app actions run APP restart)"
    if workload.spec.get("paused"):
        return f"it is paused: kubectl rollout resume {workload.kind.lower()}/{metadata.name}"
    strategy = workload.spec.get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return "its updateStrategy is OnDelete: delete its pods yourself"
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    if partition:
        return f"its rolling update ends at partition {partition}"
    return ""


def progress(workload: AnyObject) -> RolloutProgress:
    """Say how far the rollout of a workload has come."""
    status, spec = workload.status, workload.spec
    if (status.get("observedGeneration") or 0) < workload.metadata.generation:
        return RolloutProgress("its controller has not seen the change yet")
    if workload.kind == "Deployment":
        for condition in status.get("conditions") or ():
            if condition.get("reason") == "ProgressDeadlineExceeded":
                return RolloutProgress("it exceeded its progress deadline", stuck=True)
    return next((RolloutProgress(text) for text in _waits(workload.kind, spec, status)), _DONE)


_DONE: Final = RolloutProgress("rolled", done=True)


def _waits(kind: str, spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[str]:
    def number(name: str) -> int:
        return int(status.get(name) or 0)

    if kind == "DaemonSet":
        wanted, updated = number("desiredNumberScheduled"), number("updatedNumberScheduled")
        available = number("numberAvailable")
    else:
        replicas = spec.get("replicas")
        wanted, updated = 1 if replicas is None else int(replicas), number("updatedReplicas")
        available = number("readyReplicas" if kind == "StatefulSet" else "availableReplicas")
    if updated < wanted:
        yield f"{updated} of {wanted} pods are new"
    if kind == "Deployment" and number("replicas") > updated:
        yield f"{number('replicas') - updated} old pods are still there"
    if available < wanted:
        yield f"{available} of {wanted} new pods are available"
    if kind == "StatefulSet" and status.get("currentRevision") != status.get("updateRevision"):
        yield "the last pod is being replaced"


async def roll(
    cluster: Client,
    workloads: Sequence[WorkloadName],
    *,
    at: datetime,
    field_manager: str,
    parallel: int = 1,
    timeout: float | None = None,
    on_progress: Callable[[WorkloadName, RolloutProgress], None] = lambda _, __: None,
) -> dict[WorkloadName, str]:
    """Replace the pods of workloads, *parallel* at a time, each to the end before the next.

    Every change is first tried without effect, so that nothing happens when one is refused: that
    raises the error.  After a rollout that gets stuck or takes longer than *timeout* seconds no
    other is begun.  Returns what went wrong with which; those that are missing were not begun.
    """
    patch = {"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: time_text(at)}}}}}
    for each in workloads:
        await _client(cluster, each).patch(
            each.name, patch, options=PatchOptions(field_manager=field_manager, dry_run=True)
        )
    waiting, ended = list(workloads), dict[WorkloadName, str]()

    async def work() -> None:
        while waiting and not any(ended.values()):
            each = waiting.pop(0)
            client = _client(cluster, each)
            options = PatchOptions(field_manager=field_manager)
            try:
                await client.patch(each.name, patch, options=options)
                ended[each] = await _rolled(client, each, timeout, on_progress)
            except RefletError as error:
                ended[each] = str(error)

    async with asyncio.TaskGroup() as tasks:
        for number in range(max(1, parallel)):
            tasks.create_task(work(), name=f"rollouts {number}")
    return ended


def _client(cluster: Client, workload: WorkloadName) -> ResourceClient[AnyObject]:
    return cluster.resource(ROLLED_KINDS[workload.kind], namespace=workload.namespace, raw=True)


async def _rolled(
    client: ResourceClient[AnyObject],
    workload: WorkloadName,
    timeout: float | None,
    on_progress: Callable[[WorkloadName, RolloutProgress], None],
) -> str:
    """Wait for the end of a rollout; the answer is what went wrong."""
    last: RolloutProgress | None = None

    def is_over(item: AnyObject | None) -> bool:
        nonlocal last
        now = RolloutProgress("it is gone", stuck=True) if item is None else progress(item)
        if now != last:
            on_progress(workload, now)
        last = now
        return now.done or now.stuck

    try:
        await wait_for(client, workload.name, is_over, timeout=timeout)
    except TimeoutError:
        return f"still not rolled after {timeout:g} s: {last.text if last else 'nothing was seen'}"
    return last.text if last is not None and last.stuck else ""
