"""The limits of a container as cgroups have them: shares, quota, memory, and who is killed first.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go, calculateLinuxResources;
pkg/kubelet/cm/helpers_linux.go, MilliCPUToShares and MilliCPUToQuota;
pkg/kubelet/qos/policy.go, GetContainerOOMScoreAdjust
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reflet.api.core.containers import Container, ResourceRequirements
from reflet.api.core.pods import Pod
from reflet.api.quantities import Quantity
from reflet.cri.messages.isolation import HugepageLimit, LinuxContainerResources
from reflet.resolution.places import containers_of

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"

LEAST_SHARES: Final = 2
MOST_SHARES: Final = 262144
SHARES_OF_A_CPU: Final = 1024
PERIOD: Final = 100_000  # microseconds
LEAST_QUOTA: Final = 1000  # microseconds
GUARANTEED_SCORE: Final = -997
LEAST_BURSTABLE: Final = 1000 + GUARANTEED_SCORE
BEST_EFFORT_SCORE: Final = 1000
CRITICAL_PRIORITY: Final = 2_000_000_000

_HUGE: Final = "hugepages-"
_UNITS: Final = (("Gi", "GB", 2**30), ("Mi", "MB", 2**20), ("Ki", "KB", 2**10))


def linux_resources(pod: Pod, container: Container, *, memory: int) -> LinuxContainerResources:
    """The limits of a container on a machine with so many bytes of *memory*."""
    limits, requests = container.resources.limits, container.resources.requests
    shared = (pod.spec.resources or ResourceRequirements()).limits
    cpu = _amount(limits, "cpu") or _amount(shared, "cpu")
    asked = _amount(requests, "cpu") if "cpu" in requests else cpu
    limit = _amount(limits, "memory") or _amount(shared, "memory")
    return LinuxContainerResources(
        cpu_shares=cpu_shares(asked.milli_value()),
        cpu_period=PERIOD,
        cpu_quota=cpu_quota(cpu.milli_value()),
        memory_limit_in_bytes=limit.value(),
        oom_score_adj=oom_score(pod, container, memory=memory),
        hugepage_limits=_huge_pages(limits),
    )


def cpu_shares(milli: int) -> int:
    """The weight of a request."""
    return min(max(LEAST_SHARES, milli * SHARES_OF_A_CPU // 1000), MOST_SHARES)


def cpu_quota(milli: int) -> int:
    """How much of a period a limit gives; 0 for no limit."""
    return max(LEAST_QUOTA, milli * PERIOD // 1000) if milli else 0


def oom_score(pod: Pod, container: Container, *, memory: int) -> int:
    """How soon a container is killed when the machine runs out of memory."""
    kind = qos_class(pod)
    if kind == GUARANTEED or (pod.spec.priority or 0) >= CRITICAL_PRIORITY:
        return GUARANTEED_SCORE
    if kind == BEST_EFFORT:
        return BEST_EFFORT_SCORE
    asked = _amount(container.resources.requests, "memory").value()
    score = 1000 - 1000 * asked // max(1, memory)
    return min(max(score, LEAST_BURSTABLE), BEST_EFFORT_SCORE - 1)


def qos_class(pod: Pod) -> str:
    """The pod's class of service, which a server has computed for all but pods from files."""
    if pod.status.qos_class:
        return pod.status.qos_class
    pairs = [
        (_amount(resources.limits, name), _amount(resources.requests, name))
        for placed in containers_of(pod.spec)
        for resources in (placed.container.resources,)
        for name in ("cpu", "memory")
    ]
    if not any(limit or request for limit, request in pairs):
        return BEST_EFFORT
    if all(limit and request in (limit, Quantity()) for limit, request in pairs):
        return GUARANTEED
    return BURSTABLE


def _amount(amounts: Mapping[str, str | int | float], name: str) -> Quantity:
    return Quantity.of(amounts[name]) if name in amounts else Quantity()


def _huge_pages(limits: Mapping[str, str | int | float]) -> tuple[HugepageLimit, ...]:
    found: list[HugepageLimit] = []
    for name in sorted(limits):
        if name.startswith(_HUGE):
            size = Quantity.of(name.removeprefix(_HUGE)).value()
            for _, unit, factor in _UNITS:
                if size >= factor:
                    limit = _amount(limits, name).value()
                    found.append(HugepageLimit(page_size=f"{size // factor}{unit}", limit=limit))
                    break
    return tuple(found)
