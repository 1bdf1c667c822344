"""What the results of probes add up to.

Owns: how many results in a row change a probe's verdict, what holds before the first, and what
the verdicts of all probes say about a container.  Only computes.  Must not know how a probe is
run, nor when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from reflet.node.probes.probe_spec import Probe, ProbeKind


class Verdict(Enum):
    """What a probe says of a container by now."""

    SUCCESS = auto()
    FAILURE = auto()
    UNKNOWN = auto()


FIRST_VERDICT: Final[Mapping[ProbeKind, Verdict]] = MappingProxyType(
    {
        ProbeKind.STARTUP: Verdict.UNKNOWN,
        ProbeKind.READINESS: Verdict.FAILURE,
        ProbeKind.LIVENESS: Verdict.SUCCESS,
    }
)
"""What holds until enough results are there."""


@dataclass(frozen=True, slots=True)
class ProbeState:
    """A probe's *verdict*, and how many results in a row were the *last* one.

    With *is_done* it is not run again in this life of the container.
    """

    verdict: Verdict
    last: bool | None = None
    in_a_row: int = 0
    is_done: bool = False


def first_state(kind: ProbeKind, *, has_passed: bool = False) -> ProbeState:
    """The state before the first result; *has_passed* when an earlier agent saw it succeed."""
    if not has_passed:
        return ProbeState(FIRST_VERDICT[kind])
    return ProbeState(Verdict.SUCCESS, is_done=kind is ProbeKind.STARTUP)


def next_state(kind: ProbeKind, probe: Probe, state: ProbeState, succeeded: bool) -> ProbeState:
    """The state after one more result.

    A startup probe has done its work with its first verdict.  So has a liveness probe with a
    failure: the container is about to be restarted, and is left in peace until then.
    """
    in_a_row = state.in_a_row + 1 if state.last is succeeded else 1
    counted = replace(state, last=succeeded, in_a_row=in_a_row)
    if in_a_row < (probe.successes if succeeded else probe.failures):
        return counted
    verdict = Verdict.SUCCESS if succeeded else Verdict.FAILURE
    is_done = kind is ProbeKind.STARTUP or (kind is ProbeKind.LIVENESS and not succeeded)
    return replace(counted, verdict=verdict, is_done=is_done)


@dataclass(frozen=True, slots=True)
class ContainerHealth:
    """What all probes say of one life of a container while it runs.

    *failed* is the probe because of which it has to end.
    """

    is_started: bool = True
    is_ready: bool = True
    failed: ProbeKind | None = None


def container_health(verdicts: Mapping[ProbeKind, Verdict]) -> ContainerHealth:
    """Add up the verdicts of the probes that a container has."""
    startup = verdicts.get(ProbeKind.STARTUP, Verdict.SUCCESS)
    is_started = startup is Verdict.SUCCESS
    failed = None
    if verdicts.get(ProbeKind.LIVENESS) is Verdict.FAILURE:
        failed = ProbeKind.LIVENESS
    elif startup is Verdict.FAILURE:
        failed = ProbeKind.STARTUP
    return ContainerHealth(
        is_started=is_started,
        is_ready=is_started
        and verdicts.get(ProbeKind.READINESS, Verdict.SUCCESS) is Verdict.SUCCESS,
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
