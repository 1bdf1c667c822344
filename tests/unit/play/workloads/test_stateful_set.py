from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.play.actions import Action, Create, Delete, Update
from reflet.play.workloads.revisions import HASH_LABEL, LABEL, revisions_of
from reflet.play.workloads.stateful_set import decide_ordered
from tests.unit.play.documents_scene import NOW, Document, metadata, pod, ready_pod, template


def stateful_set(replicas: int = 3, *, image: str = "db:1", **spec: Any) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata("db"),
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "template": template(image),
            **spec,
        },
    }


def revision_name(wanted: Document) -> str:
    return revisions_of(wanted, [], (), HASH_LABEL).name


def members(wanted: Document, *ordinals: int, **more: Any) -> list[Document]:
    labels = {"labels": {LABEL: revision_name(wanted)}}
    return [ready_pod(f"db-{each}", metadata={**labels, **more}) for each in ordinals]


def steps(wanted: Document, pods: Sequence[Document], claims: Sequence[str] = ()) -> list[str]:
    revisions = revisions_of(wanted, [], (), HASH_LABEL)
    return [
        words
        for each in decide_ordered(wanted, pods, revisions, claims, NOW).actions
        if (words := _words(each))
    ]


def _words(action: Action) -> str:
    match action:
        case Create(document={"kind": "ControllerRevision"}) | Update():
            return ""
        case Create():
            return f"make {action.document['metadata']['name']}"
        case Delete():
            return f"delete {action.of['metadata']['name']}"
        case _:
            raise AssertionError(action)


def test_pods_are_made_one_after_the_other() -> None:
    wanted = stateful_set()

    assert steps(wanted, []) == ["make db-0"]
    assert steps(wanted, [pod("db-0")]) == []
    assert steps(wanted, members(wanted, 0)) == ["make db-1"]


def test_in_parallel_they_are_made_together() -> None:
    wanted = stateful_set(podManagementPolicy="Parallel")

    assert steps(wanted, [pod("db-1")]) == ["make db-0", "make db-2"]


def test_the_highest_go_first_one_at_a_time() -> None:
    wanted = stateful_set(1)

    assert steps(wanted, members(wanted, 0, 1, 2)) == ["delete db-2"]
    going = [*members(wanted, 0, 1), *members(wanted, 2, deletionTimestamp="now")]
    assert steps(wanted, going) == []


def test_an_update_goes_from_the_highest_to_the_partition_and_waits_for_each() -> None:
    old, new = stateful_set(), stateful_set(image="db:2")
    partitioned = stateful_set(image="db:2", updateStrategy={"rollingUpdate": {"partition": 2}})

    assert steps(new, members(old, 0, 1, 2)) == ["delete db-2"]
    assert steps(new, [*members(old, 0, 1), *members(new, 2)]) == ["delete db-1"]
    assert steps(partitioned, [*members(old, 0, 1), *members(partitioned, 2)]) == []


def test_a_pod_that_has_ended_is_made_again() -> None:
    wanted = stateful_set(1)

    assert steps(wanted, [pod("db-0", phase="Failed")]) == ["delete db-0"]


def test_each_pod_gets_its_claims_and_finds_them_again() -> None:
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    wanted = stateful_set(1, volumeClaimTemplates=claims)

    assert steps(wanted, []) == ["make data-db-0", "make db-0"]
    assert steps(wanted, [], ["data-db-0"]) == ["make db-0"]


def test_a_partition_makes_lost_pods_of_the_old_revision_from_its_own_template() -> None:
    old, new = stateful_set(), stateful_set(image="db:2")
    made = revisions_of(old, [], (), HASH_LABEL).actions[0]
    assert isinstance(made, Create)
    stored = {**made.document, "metadata": {**made.document["metadata"], "uid": "r"}}

    revisions = revisions_of(new, [stored], (revision_name(old),), HASH_LABEL)

    image = revisions.template(revision_name(old), new)["spec"]["containers"][0]["image"]
    assert image == "db:1"
    assert revisions.template(revisions.name, new) == new["spec"]["template"]


def test_the_status_says_when_the_update_is_done() -> None:
    wanted = stateful_set(2)
    wanted["status"] = {"currentRevision": "db-old"}
    revisions = revisions_of(wanted, [], (), HASH_LABEL)

    (*_, update) = decide_ordered(wanted, members(wanted, 0, 1), revisions, (), NOW).actions

    assert isinstance(update, Update)
    status = update.document["status"]
    assert status["currentRevision"] == status["updateRevision"] == revisions.name
