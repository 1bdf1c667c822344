"""One workload of the page: its pods, folded, and every line that ends in them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from reflet.api.core.pods import Pod, PodStatus
from reflet.insight.page.brief_objects import TEMPLATE_HASH
from reflet.insight.page.page_document import (
    STATES,
    PageArrival,
    PageContainer,
    PageLink,
    PageWorkload,
    PodGroup,
    Way,
    page_id,
    seconds,
)
from reflet.insight.page.page_sentences import sentences_about
from reflet.insight.page.page_uses import PageUse, UsesOfPods
from reflet.insight.stale.held_values import HeldState

NAMES_SHOWN: Final = 2
_ENDED: Final = frozenset({"Succeeded", "Failed"})


class PageOwner(NamedTuple):
    """Who made a pod, or the pod itself."""

    kind: str
    namespace: str
    name: str


def workload_of(pod: Pod) -> PageOwner:
    """Return whose pod it is.

    A Deployment names its ReplicaSets by a hash that their pods have as a label, so that nobody
    need ask for ReplicaSets.
    """
    metadata = pod.metadata
    for owner in metadata.owner_references:
        if not owner.controller:
            continue
        suffix = f"-{metadata.labels.get(TEMPLATE_HASH, '')}"
        if owner.kind == "ReplicaSet" and len(suffix) > 1 and owner.name.endswith(suffix):
            name = owner.name.removesuffix(suffix)
            return PageOwner("Deployment", metadata.namespace, name)
        return PageOwner(owner.kind, metadata.namespace, owner.name)
    return PageOwner("Pod", metadata.namespace, metadata.name)


def is_shown(pod: Pod) -> bool:
    """Whether a pod has, or will have, containers that hold something."""
    return pod.status.phase not in _ENDED and pod.metadata.deletion_timestamp is None


def workload_page(name: PageOwner, pods: Iterable[Pod], uses_of: UsesOfPods) -> PageWorkload | None:
    """Return what the page shows of a workload; ``None`` when its pods use no configuration."""
    groups: dict[tuple[object, ...], tuple[tuple[PageUse, ...], list[Pod]]] = {}
    for pod in sorted(filter(is_shown, pods), key=lambda pod: pod.metadata.name):
        uses = uses_of.of(pod)
        containers = _containers(pod)
        groups.setdefault((_phase(pod.status), containers, uses), (uses, []))[1].append(pod)
    every = list(groups.values())
    if not any(uses for uses, _ in every):
        return None
    return PageWorkload(
        kind=name.kind,
        namespace=name.namespace,
        name=name.name,
        pods=tuple(_group(pods) for _, pods in every),
        arrivals=tuple(_arrivals([uses for uses, _ in every])),
        sentences=tuple(
            sentences_about(
                name.kind,
                name.name,
                [(uses, tuple(pod.metadata.name for pod in pods)) for uses, pods in every],
                uses_of.exists,
            )
        ),
    )


def _group(pods: Sequence[Pod]) -> PodGroup:
    starts = [
        status.state.running.started_at
        for pod in pods
        for status in pod.status.container_statuses
        if status.state.running is not None and status.state.running.started_at is not None
    ]
    created = [each for pod in pods if (each := pod.metadata.creation_timestamp) is not None]
    return PodGroup(
        names=tuple(pod.metadata.name for pod in pods[:NAMES_SHOWN]),
        count=len(pods),
        phase=_phase(pods[0].status),
        containers=_containers(pods[0]),
        since=seconds(min(starts or created, default=None)),
    )


def _containers(pod: Pod) -> tuple[PageContainer, ...]:
    return (
        *(PageContainer(name=each.name, init=True) for each in pod.spec.init_containers),
        *(PageContainer(name=each.name) for each in pod.spec.containers),
    )


def _phase(status: PodStatus) -> str:
    """Return the phase, or the reason for which a container waits, as kubectl shows it."""
    for each in (*status.init_container_statuses, *status.container_statuses):
        if each.state.waiting is not None and each.state.waiting.reason:
            return each.state.waiting.reason
    return status.reason or status.phase or "Pending"


def _arrivals(groups: Sequence[tuple[PageUse, ...]]) -> Iterator[PageArrival]:
    """Yield the lines, each once for all groups and containers that it leads to."""
    found: dict[tuple[Way, str, str, str], list[PageLink]] = {}
    for index, uses in enumerate(groups):
        for use in uses:
            links = found.setdefault((use.way, use.name, page_id(*use.object), use.key), [])
            link = PageLink(
                pods=index,
                container=use.container,
                state=STATES[use.state],
                inferred=use.state is HeldState.NEEDS_RESTART and not use.is_observed,
            )
            if link not in links:
                links.append(link)
    for (way, name, source, key), links in sorted(found.items()):
        yield PageArrival(way=way, name=name, source=source, key=key, to=tuple(links))
