from __future__ import annotations

import itertools

import pytest

from reflet.pleg.compute_events import (
    EVENTS,
    SEEN_AS,
    PodEvent,
    PodEventType,
    Seen,
    container_events,
)
from reflet.pleg.runtime_status import RuntimePod, RuntimeState
from tests.pod_runtime import pod

STARTED, DIED = "ContainerStarted", "ContainerDied"
REMOVED, CHANGED = "ContainerRemoved", "ContainerChanged"


def types(before: RuntimePod | None, now: RuntimePod | None) -> list[str]:
    return [event.type for event in container_events("p", before, now)]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (None, "running", [STARTED]),
        ("exited", "running", [STARTED]),
        ("unknown", "running", [STARTED]),
        ("created", "running", [STARTED]),
        ("running", "running", []),
        (None, "exited", [DIED]),
        ("running", "exited", [DIED]),
        ("exited", "exited", []),
        (None, "unknown", [CHANGED]),
        (None, "created", [CHANGED]),
        ("running", "unknown", [CHANGED]),
        ("created", "unknown", []),
        ("unknown", "created", []),
        ("exited", None, [REMOVED]),
        ("running", None, [DIED, REMOVED]),
        ("unknown", None, [DIED, REMOVED]),
        ("created", None, [DIED, REMOVED]),
    ],
)
@pytest.mark.parametrize("place", ["containers", "sandboxes"])
def test_a_change_of_state_is_told(
    before: str | None, now: str | None, told: list[str], place: str
) -> None:
    def with_one(state: str | None) -> RuntimePod:
        return pod("p", **{place: {} if state is None else {"c": state}})

    assert types(with_one(before), with_one(now)) == told


def test_a_pod_that_is_gone_has_no_containers_left() -> None:
    before = pod("p", {"web": "running"}, {"sandbox": "exited"})

    assert container_events("p", before, None) == (
        PodEvent("p", PodEventType.CONTAINER_DIED, "web"),
        PodEvent("p", PodEventType.CONTAINER_REMOVED, "web"),
        PodEvent("p", PodEventType.CONTAINER_REMOVED, "sandbox"),
    )


def test_a_pod_that_was_never_seen_and_is_not_there_brings_nothing() -> None:
    assert container_events("p", None, None) == ()


def test_a_container_moved_among_the_sandboxes_is_the_same() -> None:
    assert types(pod("p", {"c": "running"}), pod("p", {}, {"c": "running"})) == []


def test_the_table_has_every_change_and_nothing_else() -> None:
    assert EVENTS.keys() == set(itertools.permutations(Seen, 2))


def test_every_state_of_a_runtime_is_seen_as_something() -> None:
    assert SEEN_AS.keys() == set(RuntimeState)
