"""The one word that says how a pod is doing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.devserver.printing.pod_printer import pod_cells

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)


def pod(status: dict[str, Any], spec: dict[str, Any] | None = None, **metadata: Any) -> Any:
    return {
        "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z", **metadata},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], **(spec or {})},
        "status": {"phase": "Running", **status},
    }


def container(name: str, *, ready: bool = False, restarts: int = 0, **state: Any) -> Any:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state}


@pytest.mark.parametrize(
    ("described", "word"),
    [
        (pod({"phase": "Pending"}), "Pending"),
        (pod({"reason": "Evicted", "phase": "Failed"}), "Evicted"),
        (pod({}, deletionTimestamp="2026-01-01T00:00:00Z"), "Terminating"),
        (pod({"phase": "Succeeded"}, deletionTimestamp="2026-01-01T00:00:00Z"), "Succeeded"),
        (
            pod({"containerStatuses": [container("a", waiting={"reason": "ErrImagePull"})]}),
            "ErrImagePull",
        ),
        (
            pod({"containerStatuses": [container("a", terminated={"exitCode": 3})]}),
            "ExitCode:3",
        ),
        (
            pod({"containerStatuses": [container("a", terminated={"signal": 9})]}),
            "Signal:9",
        ),
        (
            pod(
                {
                    "containerStatuses": [
                        container("a", terminated={"reason": "Completed"}),
                        container("b", ready=True, running={}),
                    ],
                    "conditions": [{"type": "Ready", "status": "True"}],
                }
            ),
            "Running",
        ),
        (
            pod(
                {"initContainerStatuses": [container("i", running={})]},
                {"initContainers": [{"name": "i"}, {"name": "j"}]},
            ),
            "Init:0/2",
        ),
        (
            pod(
                {"initContainerStatuses": [container("i", terminated={"exitCode": 2})]},
                {"initContainers": [{"name": "i"}]},
            ),
            "Init:ExitCode:2",
        ),
        (
            pod(
                {"initContainerStatuses": [container("i", waiting={"reason": "CrashLoopBackOff"})]},
                {"initContainers": [{"name": "i"}]},
            ),
            "Init:CrashLoopBackOff",
        ),
        (
            pod({"conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
            "SchedulingGated",
        ),
    ],
)
def test_the_word_is_the_real_servers(described: Any, word: str) -> None:
    assert pod_cells(described, NOW)[1] == word


def test_ready_containers_are_counted_and_restarts_dated() -> None:
    again = container("a", ready=True, restarts=2, running={})
    again["lastState"] = {"terminated": {"finishedAt": "2026-01-01T00:30:00Z"}}

    cells = pod_cells(pod({"containerStatuses": [again, container("b")]}), NOW)

    assert cells[:4] == ["1/2", "Running", "2 (30m ago)", "60m"]


def test_readiness_gates_are_counted() -> None:
    described = pod(
        {
            "conditions": [{"type": "example.com/a", "status": "True"}],
            "podIPs": [{"ip": "1.1.1.1"}],
        },
        {
            "nodeName": "n",
            "readinessGates": [{"conditionType": "example.com/a"}, {"conditionType": "b"}],
        },
    )

    assert pod_cells(described, NOW)[4:] == ["1.1.1.1", "n", "<none>", "1/2"]
