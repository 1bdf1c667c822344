from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.api.resources import CONFIG_MAPS, EVENTS, GROUPED_EVENTS, SECRETS
from reflet.api.unstructured import AnyObject
from reflet.play.actions import Delete
from reflet.play.cluster_view import SeenObject
from reflet.play.garbage_collector import Found, OwnerState, decide_deletion, is_deletable
from tests.unit.play.documents_scene import GOING


def seen(name: str, **metadata: Any) -> SeenObject:
    own = {"name": name, "namespace": "shop", "uid": name, **metadata}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": own}
    return SeenObject(AnyObject.from_dict(document))


def dependent(name: str, owner: str, *, blocks: bool = True) -> Found:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner}
    return SECRETS, seen(name, ownerReferences=[{**reference, "blockOwnerDeletion": blocks}])


def decided(*states: OwnerState, dependents: Sequence[Found] = (), **metadata: Any) -> list[str]:
    owners = [{"apiVersion": "v1", "kind": "A", "name": str(i), "uid": str(i)} for i in range(3)]
    item = (CONFIG_MAPS, seen("it", ownerReferences=owners[: len(states)], **metadata))
    said = []
    for action in decide_deletion(item, states, dependents):
        found = action.document["metadata"]
        uids = "".join(each["uid"] for each in found.get("ownerReferences", ()))
        if isinstance(action, Delete):
            said.append(f"delete {action.policy}")
        else:
            said.append(f"{found['name']}: owners {uids!r}, held by {found.get('finalizers', [])}")
    return said


def test_an_object_goes_when_its_last_owner_has_gone() -> None:
    assert decided("absent") == ["delete Background"]
    assert decided("absent", "absent") == ["delete Background"]


def test_an_object_without_owners_or_with_one_that_is_there_stays() -> None:
    assert decided() == []
    assert decided("solid") == []


def test_an_owner_that_has_gone_is_forgotten_while_another_is_there() -> None:
    assert decided("absent", "solid", "waiting") == ["it: owners '1', held by []"]


def test_nothing_is_deleted_while_nobody_can_tell_whether_an_owner_is_there() -> None:
    assert decided("absent", "unknown") == []


def test_an_owner_that_waits_has_its_dependents_deleted_the_same_way_down() -> None:
    assert decided("waiting", dependents=[dependent("leaf", "it")]) == ["delete Foreground"]
    assert decided("waiting") == ["delete Background"]


def test_a_finalizer_says_how_an_object_is_to_be_deleted() -> None:
    assert decided("absent", finalizers=["orphan"]) == ["delete Orphan"]


def test_an_object_that_waits_is_released_when_no_dependent_blocks_it() -> None:
    held: dict[str, Any] = {**GOING, "finalizers": ["foregroundDeletion", "example.com/hold"]}

    assert decided(dependents=[dependent("leaf", "it")], **held) == []
    assert decided(dependents=[dependent("leaf", "it", blocks=False)], **held) == [
        "it: owners '', held by ['example.com/hold']"
    ]


def test_an_orphaning_object_is_forgotten_by_its_dependents_before_it_is_released() -> None:
    held: dict[str, Any] = {**GOING, "finalizers": ["orphan"]}

    assert decided(dependents=[dependent("leaf", "it")], **held) == ["leaf: owners '', held by []"]
    assert decided(**held) == ["it: owners '', held by []"]


def test_events_are_followed_under_one_of_their_two_names() -> None:
    assert (is_deletable(EVENTS), is_deletable(GROUPED_EVENTS)) == (True, False)
