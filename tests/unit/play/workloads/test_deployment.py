from __future__ import annotations

from typing import Any

import pytest

from reflet.play.actions import Create, Delete, Update
from reflet.play.workloads.deployment import (
    HISTORY,
    REVISION,
    Limits,
    decide_rollout,
    next_sizes,
    rollout_status,
)
from tests.unit.play.documents_scene import NOW, Document, at, metadata, ready_pod, template


def deployment(
    replicas: int = 4,
    *,
    surge: Any = "25%",
    unavailable: Any = "25%",
    image: str = "nginx:1",
    status: Document | None = None,
    **spec: Any,
) -> Document:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata("web"),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": template(image),
            "progressDeadlineSeconds": 600,
            **spec,
        },
        "status": status or {},
    }


def replica_set(
    name: str, wanted: int, available: int, *, image: str = "nginx:1", revision: int = 1
) -> Document:
    return {
        "metadata": metadata(name, annotations={REVISION: str(revision)}),
        "spec": {"replicas": wanted, "template": template(image)},
        "status": {
            "replicas": wanted,
            "readyReplicas": available,
            "availableReplicas": available,
        },
    }


RECREATE = {"type": "Recreate"}


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "limits"),
    [
        (4, "25%", "25%", (1, 1)),
        (3, "25%", "25%", (1, 0)),  # one is rounded up, the other down
        (10, 3, 0, (3, 0)),
        (10, 0, 0, (0, 1)),  # or nothing would ever move
        (1, "0%", "50%", (0, 1)),
    ],
)
def test_shares_are_of_the_number_that_is_wanted(
    replicas: int, surge: Any, unavailable: Any, limits: tuple[int, int]
) -> None:
    found = Limits.of(deployment(replicas, surge=surge, unavailable=unavailable))

    assert (found.surge, found.unavailable) == limits


@pytest.mark.parametrize(
    ("old", "new", "sizes"),
    [
        ((4, 4), (0, 0), {"new": 1}),  # as many as fit in the surge
        ((4, 4), (1, 0), {"old": 3}),  # one may be away
        ((3, 3), (1, 0), {"new": 2}),
        ((3, 3), (2, 0), {}),  # wait for the new ones
        ((3, 3), (2, 2), {"old": 1}),
        ((3, 1), (2, 0), {}),  # those of no use stay while new ones are of no use either
        ((4, 1), (1, 1), {"old": 2}),  # and go first when they may
        ((0, 0), (6, 6), {"new": 4}),
        ((0, 0), (4, 4), {}),
    ],
)
def test_a_rollout_stays_between_its_limits(
    old: tuple[int, int], new: tuple[int, int], sizes: dict[str, int]
) -> None:
    limits = Limits(replicas=4, surge=1, unavailable=1)

    found = next_sizes(deployment(), replica_set("new", *new), [replica_set("old", *old)], limits)

    assert found == sizes


def test_a_rollout_is_never_below_or_above_its_limits_until_it_is_done() -> None:
    limits = Limits(replicas=10, surge=3, unavailable=2)
    sizes = {"old": 10, "new": 0}
    steps = 0

    while sizes != {"old": 0, "new": 10} and steps < 30:
        new = replica_set("new", sizes["new"], sizes["new"])
        old = [replica_set("old", sizes["old"], sizes["old"])]
        sizes |= next_sizes(deployment(10), new, old, limits)
        steps += 1
        assert 8 <= sum(sizes.values()) <= 13

    assert sizes == {"old": 0, "new": 10}


def test_the_first_set_has_the_hash_of_its_template_in_name_labels_and_selector() -> None:
    decided = decide_rollout(deployment(), [], [], NOW)

    made = decided.actions[0]
    assert isinstance(made, Create)
    short = made.document["metadata"]["labels"]["pod-template-hash"]
    assert made.document["metadata"]["name"] == f"web-{short}"
    assert made.document["spec"]["selector"]["matchLabels"]["pod-template-hash"] == short
    assert made.document["metadata"]["annotations"][REVISION] == "1"
    assert made.document["spec"]["replicas"] == 4


def test_a_rollback_makes_the_old_set_the_newest_revision_and_remembers_which_it_was() -> None:
    sets = [replica_set("a", 0, 0, revision=1), replica_set("b", 4, 4, image="nginx:2", revision=2)]

    update = decide_rollout(deployment(), sets, [], NOW).actions[0]

    assert isinstance(update, Update)
    annotations = update.document["metadata"]["annotations"]
    assert (annotations[REVISION], annotations[HISTORY]) == ("3", "1")


def test_recreate_waits_for_the_last_old_pod_before_it_makes_a_new_set() -> None:
    wanted = deployment(image="nginx:2", strategy=RECREATE)
    old = replica_set("old", 4, 4)

    first = decide_rollout(wanted, [old], [ready_pod("a")], NOW).actions[0]
    empty = {**old, "spec": {**old["spec"], "replicas": 0}, "status": {}}
    going = ready_pod("a", metadata={"deletionTimestamp": "now"})
    waiting = decide_rollout(wanted, [empty], [going], NOW).actions
    then = decide_rollout(wanted, [empty], [], NOW).actions[0]

    assert isinstance(first, Update)
    assert first.document["spec"]["replicas"] == 0
    assert not any(isinstance(each, Create) for each in waiting)
    assert isinstance(then, Create)


def test_a_paused_deployment_makes_no_new_set() -> None:
    decided = decide_rollout(
        deployment(image="nginx:2", paused=True), [replica_set("a", 4, 4)], [], NOW
    )

    (update,) = decided.actions
    assert isinstance(update, Update)
    progressing = update.document["status"]["conditions"][1]
    assert (progressing["status"], progressing["reason"]) == ("Unknown", "DeploymentPaused")


def test_old_revisions_are_forgotten_beyond_the_limit() -> None:
    new = replica_set("new", 1, 1, revision=4)
    olds = [replica_set(f"old-{each}", 0, 0, image=str(each), revision=each) for each in (3, 1, 2)]
    new["metadata"]["annotations"] |= {
        "deployment.kubernetes.io/desired-replicas": "1",
        "deployment.kubernetes.io/max-replicas": "2",
    }

    decided = decide_rollout(deployment(1, revisionHistoryLimit=1), [new, *olds], [], NOW)

    gone = [each.of["metadata"]["name"] for each in decided.actions if isinstance(each, Delete)]
    assert gone == ["old-1", "old-2"]


def test_a_rollout_without_progress_is_given_up_after_its_deadline() -> None:
    new = replica_set("new", 4, 0)
    stuck = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}
    stuck |= {"lastUpdateTime": at(-599), "lastTransitionTime": at(-900), "message": ""}
    counts = {"replicas": 4, "updatedReplicas": 4}

    early = deployment(status={**counts, "conditions": [stuck]})
    late = deployment(status={**counts, "conditions": [{**stuck, "lastUpdateTime": at(-600)}]})

    assert rollout_status(early, new, [new], NOW)[1] == 1.0
    status, again = rollout_status(late, new, [new], NOW)
    assert (status["conditions"][0]["reason"], again) == ("ProgressDeadlineExceeded", None)
