"""The result of a probe, and what the results of all probes say about a container.

One run of a probe has an outcome; so many outcomes in a row, its threshold, change the probe's
result.  Everything here is pure; ``prober`` runs the probes and keeps these states.

Upstream: pkg/kubelet/prober/results/results_manager.go, Result;
pkg/kubelet/prober/worker.go, doProbe (thresholds, initialValue).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from reflet.node.probes.probe_spec import Probe, ProbeKind


class ProbeResult(Enum):
    """What a probe says of a container by now."""

    SUCCESS = auto()
    FAILURE = auto()
    UNKNOWN = auto()


FIRST_RESULT: Final[Mapping[ProbeKind, ProbeResult]] = MappingProxyType(
    {
        ProbeKind.STARTUP: ProbeResult.UNKNOWN,
        ProbeKind.READINESS: ProbeResult.FAILURE,
        ProbeKind.LIVENESS: ProbeResult.SUCCESS,
    }
)
"""What holds until a threshold is reached, as initialValue of the kubelet's probe worker."""


@dataclass(frozen=True, slots=True)
class ProbeState:
    """A probe's *result*, and how many outcomes in a row were the *last* one.

    With *is_done* it is not run again in this life of the container.
    """

    result: ProbeResult
    last: bool | None = None
    in_a_row: int = 0
    is_done: bool = False


def first_state(kind: ProbeKind, *, has_passed: bool = False) -> ProbeState:
    """The state before the first outcome; *has_passed* when an earlier agent saw it succeed."""
    if not has_passed:
        return ProbeState(FIRST_RESULT[kind])
    return ProbeState(ProbeResult.SUCCESS, is_done=kind is ProbeKind.STARTUP)


def next_state(kind: ProbeKind, probe: Probe, state: ProbeState, succeeded: bool) -> ProbeState:
    """The state after one more outcome.

    A startup probe has done its work with its first result.  So has a liveness probe with a
    failure: the container is about to be restarted, and is left in peace until then.
    """
    in_a_row = state.in_a_row + 1 if state.last is succeeded else 1
    counted = replace(state, last=succeeded, in_a_row=in_a_row)
    if in_a_row < (probe.successes if succeeded else probe.failures):
        return counted
    result = ProbeResult.SUCCESS if succeeded else ProbeResult.FAILURE
    is_done = kind is ProbeKind.STARTUP or (kind is ProbeKind.LIVENESS and not succeeded)
    return replace(counted, result=result, is_done=is_done)


@dataclass(frozen=True, slots=True)
class ContainerHealth:
    """What all probes say of one life of a container while it runs.

    *failed* is the probe because of which it has to end.
    """

    is_started: bool = True
    is_ready: bool = True
    failed: ProbeKind | None = None


def container_health(results: Mapping[ProbeKind, ProbeResult]) -> ContainerHealth:
    """Add up the results of the probes that a container has."""
    startup = results.get(ProbeKind.STARTUP, ProbeResult.SUCCESS)
    is_started = startup is ProbeResult.SUCCESS
    failed = None
    if results.get(ProbeKind.LIVENESS) is ProbeResult.FAILURE:
        failed = ProbeKind.LIVENESS
    elif startup is ProbeResult.FAILURE:
        failed = ProbeKind.STARTUP
    return ContainerHealth(
        is_started=is_started,
        is_ready=is_started
        and results.get(ProbeKind.READINESS, ProbeResult.SUCCESS) is ProbeResult.SUCCESS,
        failed=failed,
    )


@dataclass(frozen=True, slots=True)
class PodHealth:
    """What probes say of the containers of a pod, by the id of a container's life.

    One that is not named has no probes: it is started and ready while it runs.
    """

    containers: Mapping[str, ContainerHealth] = field(default_factory=dict)

    def of(self, life: str) -> ContainerHealth:
        """What is said of one life of a container."""
        return self.containers.get(life, NO_PROBES)


NO_PROBES: Final = ContainerHealth()
UNPROBED: Final = PodHealth()
