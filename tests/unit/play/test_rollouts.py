from __future__ import annotations

from typing import Any

import pytest

from reflet.play.owned_pods import template_hash
from reflet.play.rollouts import REVISION, Limits, next_sizes, roll_out
from tests.unit.play.documents_scene import (
    Document,
    metadata,
    status_of,
    template,
    view_of,
    words,
)


def deployment(
    replicas: int = 4,
    *,
    surge: Any = "25%",
    unavailable: Any = "25%",
    image: str = "nginx:1",
    **spec: Any,
) -> Document:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata("web", annotations={"team": "a"}),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": template(image),
            **spec,
        },
    }


def replica_set(name: str, wanted: int, available: int, *, revision: int = 1) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata(name, annotations={REVISION: str(revision)}),
        "spec": {"replicas": wanted, "template": template()},
        "status": {"replicas": wanted, "readyReplicas": available, "availableReplicas": available},
    }


def name_of(image: str = "nginx:1") -> str:
    return f"web-{template_hash(deployment(image=image))}"


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
    made = roll_out(view_of(), deployment()).actions[0].document

    short = made["metadata"]["labels"]["pod-template-hash"]
    assert made["metadata"]["name"] == f"web-{short}"
    assert made["spec"]["selector"]["matchLabels"]["pod-template-hash"] == short
    assert made["metadata"]["annotations"] == {"team": "a", REVISION: "1"}
    assert made["spec"]["replicas"] == 4


def test_a_rollback_makes_the_old_set_the_newest_revision() -> None:
    wanted = deployment()
    sets = [replica_set(name_of(), 0, 0, revision=1), replica_set("other", 4, 4, revision=2)]

    update = roll_out(view_of(*sets, owner=wanted), wanted).actions[0].document["metadata"]

    assert (update["name"], update["annotations"][REVISION]) == (name_of(), "3")


def test_the_deployment_carries_the_revision_of_its_newest_set() -> None:
    wanted = deployment()
    new = replica_set(name_of(), 4, 4, revision=7)

    update = roll_out(view_of(new, owner=wanted), wanted).actions[-1]

    assert update.document["metadata"]["annotations"] == {"team": "a", REVISION: "7"}


def test_recreate_waits_for_the_last_old_pod() -> None:
    wanted = deployment(image="nginx:2", strategy=RECREATE)
    old, new = replica_set("old", 4, 4), replica_set(name_of("nginx:2"), 0, 0, revision=2)
    going = {**replica_set("old", 0, 0), "status": {"terminatingReplicas": 1}}

    first = words(roll_out(view_of(old, new, owner=wanted), wanted))
    waiting = words(roll_out(view_of(going, new, owner=wanted), wanted))
    then = words(roll_out(view_of(replica_set("old", 0, 0), new, owner=wanted), wanted))

    assert (first, waiting, then) == (["write old"], [], [f"write {name_of('nginx:2')}"])


def test_a_paused_deployment_makes_no_new_set() -> None:
    wanted = deployment(image="nginx:2", paused=True)

    decided = roll_out(view_of(replica_set("a", 4, 4), owner=wanted), wanted)

    progressing = status_of(decided)["conditions"][1]
    assert words(decided) == []
    assert (progressing["status"], progressing["reason"]) == ("Unknown", "DeploymentPaused")


def test_old_revisions_are_forgotten_beyond_the_limit() -> None:
    wanted = deployment(1, revisionHistoryLimit=1)
    new = replica_set(name_of(), 1, 1, revision=4)
    olds = [replica_set(f"old-{each}", 0, 0, revision=each) for each in (3, 1, 2)]

    decided = roll_out(view_of(new, *olds, owner=wanted), wanted)

    assert words(decided) == ["delete old-1", "delete old-2"]


@pytest.mark.parametrize(
    ("available", "found"),
    [
        (4, {"Available": "True", "Progressing": "NewReplicaSetAvailable"}),
        (2, {"Available": "False", "Progressing": "ReplicaSetUpdated"}),
    ],
)
def test_the_status_says_whether_enough_are_there_and_all_are_new(
    available: int, found: dict[str, str]
) -> None:
    wanted = deployment()
    status = status_of(
        roll_out(view_of(replica_set(name_of(), 4, available), owner=wanted), wanted)
    )

    there, progressing = status["conditions"]
    assert {there["type"]: there["status"], progressing["type"]: progressing["reason"]} == found
    assert (status["updatedReplicas"], status["availableReplicas"]) == (4, available)
