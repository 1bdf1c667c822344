"""What pods of one workload have in common is said once, and containers are counted once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.insight.owners import Owners
from reflet.insight.stale.held_values import Certainty, HeldState
from reflet.insight.stale.object_history import FieldWrite, KeyChange, ObjectHistory
from reflet.insight.stale.stale_workloads import RunningPods, WorkloadStaleness, stale_workloads

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def pod(name: str, started: datetime, owner: str = "web", **more: Any) -> Pod:
    running = {"running": {"startedAt": started.isoformat()}}
    raw = {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "creationTimestamp": started.isoformat(),
            "ownerReferences": [{"kind": "StatefulSet", "name": owner, "controller": True}],
        },
        "spec": {
            "enableServiceLinks": False,
            "containers": [{"name": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}],
            **more,
        },
        "status": {"phase": "Running", "containerStatuses": [{"name": "web", "state": running}]},
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def found(*pods: Pod, current: bool = True, **more: Any) -> list[WorkloadStaleness]:
    writes = (FieldWrite(manager="edit", at=NOON, keys=("a", "b")),)
    settings = ObjectHistory(
        kind="ConfigMap",
        namespace="shop",
        name="settings",
        created=NOON - 9 * HOUR,
        keys=("a", "b"),
        writes=writes,
        **more,
    )
    running = RunningPods(pods, {("ConfigMap", "shop", "settings"): settings}, Owners())
    return stale_workloads(running, now=NOON + HOUR, current=current)


def test_a_use_that_pods_have_alike_is_said_once() -> None:
    (workload,) = found(pod("web-0", NOON - HOUR), pod("web-1", NOON - 2 * HOUR))

    assert workload.title == "statefulset/web"
    assert [(each.use.name, each.pods) for each in workload.uses] == [
        ("a", ("web-0", "web-1")),
        ("b", ("web-0", "web-1")),
    ]


def test_pods_that_started_before_and_after_a_change_are_told_apart() -> None:
    (workload,) = found(pod("web-0", NOON - HOUR), pod("web-1", NOON + HOUR))

    assert {(each.use.state, each.pods) for each in workload.uses} == {
        (HeldState.NEEDS_RESTART, ("web-0",)),
        (HeldState.CURRENT, ("web-1",)),
    }


def test_what_is_current_can_be_left_out() -> None:
    before, after = pod("web-0", NOON - HOUR), pod("db-0", NOON + HOUR, owner="db")

    (workload,) = found(before, after, current=False)

    assert (workload.name, workload.is_stale) == ("web", True)


def test_leaving_out_what_is_current_leaves_out_nothing_else() -> None:
    every = found(pod("web-0", NOON - HOUR), pod("web-1", NOON + HOUR))
    (without,) = found(pod("web-0", NOON - HOUR), pod("web-1", NOON + HOUR), current=False)

    stale = [each for each in every[0].uses if each.use.state is not HeldState.CURRENT]
    assert list(without.uses) == stale


def test_a_container_is_counted_once_and_as_what_is_known_best() -> None:
    changes = (KeyChange(at=NOON, since=NOON, key="a", before="1", after="2"),)
    (workload,) = found(pod("web-0", NOON - HOUR), since=NOON - 2 * HOUR, changes=changes)
    assert workload.stale_containers(Certainty.OBSERVED) == 1
    assert workload.stale_containers(Certainty.INFERRED) == 0

    (workload,) = found(pod("web-0", NOON - HOUR))
    assert workload.stale_containers(Certainty.INFERRED) == 1


def test_pods_of_one_template_are_judged_by_their_own_starts_and_names() -> None:
    """Volumes of tokens have another name in each pod, which makes no other template."""
    tokens = [{"name": f"kube-api-access-{each}", "emptyDir": {}} for each in ("abcde", "fghij")]
    pods = [
        pod("web-0", NOON - HOUR, volumes=tokens[:1]),
        pod("web-1", NOON + HOUR, volumes=tokens[1:]),
    ]

    (workload,) = found(*pods, current=False)

    assert {each.pods for each in workload.uses} == {("web-0",)}
