from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.api.meta import OwnerReference
from reflet.api.resources import CONFIG_MAPS, SECRETS, Resource
from reflet.api.unstructured import AnyObject
from reflet.play.actions import Action, Delete, Patch
from reflet.play.cluster_view import SeenObject
from reflet.play.garbage_collector import GraphNode, OwnerState, decide_deletion


def seen(name: str, **metadata: Any) -> SeenObject:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop", "uid": name, **metadata},
    }
    return SeenObject(AnyObject.from_dict(document))


def dependent(name: str, owner: str, *, blocks: bool = True) -> tuple[Resource, SeenObject]:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner}
    return SECRETS, seen(name, ownerReferences=[{**reference, "blockOwnerDeletion": blocks}])


def node(
    *states: OwnerState, dependents: Sequence[tuple[Resource, SeenObject]] = (), **metadata: Any
) -> GraphNode:
    owners = [{"apiVersion": "v1", "kind": "A", "name": str(i), "uid": str(i)} for i in range(3)]
    return GraphNode(
        CONFIG_MAPS,
        seen("it", ownerReferences=owners[: len(states)], **metadata),
        [(OwnerReference(uid=str(number)), state) for number, state in enumerate(states)],
        dependents,
    )


def words(actions: Sequence[Action]) -> list[str]:
    said = []
    for action in actions:
        match action:
            case Delete():
                said.append(f"delete {action.policy}")
            case Patch(patch={"metadata": {"finalizers": kept}}):
                said.append(f"finalizers of {action.of['metadata']['name']}: {kept}")
            case Patch(patch={"metadata": {"ownerReferences": kept}}):
                uids = kept and [each["uid"] for each in kept]
                said.append(f"owners of {action.of['metadata']['name']}: {uids}")
            case _:
                raise AssertionError(action)
    return said


def test_an_object_goes_when_its_last_owner_has_gone() -> None:
    assert words(decide_deletion(node("absent"))) == ["delete Background"]
    assert words(decide_deletion(node("absent", "absent"))) == ["delete Background"]


def test_an_object_without_owners_or_with_one_that_is_there_stays() -> None:
    assert decide_deletion(node()) == []
    assert decide_deletion(node("solid")) == []


def test_an_owner_that_has_gone_is_forgotten_while_another_is_there() -> None:
    assert words(decide_deletion(node("absent", "solid", "waiting"))) == ["owners of it: ['1']"]


def test_nothing_is_deleted_while_nobody_can_tell_whether_an_owner_is_there() -> None:
    assert decide_deletion(node("absent", "unknown")) == []


def test_an_owner_that_waits_has_its_dependents_deleted_the_same_way_down() -> None:
    middle = node("waiting", dependents=[dependent("leaf", "it")])

    assert words(decide_deletion(middle)) == ["delete Foreground"]
    assert words(decide_deletion(node("waiting"))) == ["delete Background"]


def test_a_finalizer_says_how_an_object_is_to_be_deleted() -> None:
    assert words(decide_deletion(node("absent", finalizers=["orphan"]))) == ["delete Orphan"]


GOING = "2025-01-01T00:00:00Z"


def test_an_object_that_waits_is_released_when_no_dependent_blocks_it() -> None:
    finalizers = ["foregroundDeletion", "example.com/hold"]
    held = {"deletionTimestamp": GOING, "finalizers": finalizers}

    blocked = decide_deletion(node(dependents=[dependent("leaf", "it")], **held))
    free = decide_deletion(node(dependents=[dependent("leaf", "it", blocks=False)], **held))

    assert blocked == []
    assert words(free) == ["finalizers of it: ['example.com/hold']"]


def test_an_orphaning_object_is_forgotten_by_its_dependents_before_it_is_released() -> None:
    held = {"deletionTimestamp": GOING, "finalizers": ["orphan"]}

    decided = decide_deletion(node(dependents=[dependent("leaf", "it")], **held))

    assert words(decided) == ["owners of leaf: None", "finalizers of it: None"]
