from __future__ import annotations

from reflet.api.resources import CONFIG_MAPS, Resource
from reflet.api.unstructured import AnyObject
from reflet.play.actions import Delete, Update
from reflet.play.cluster_view import SeenObject
from reflet.play.namespace_deletion import decide_emptying
from tests.unit.play.documents_scene import NOW, Document


def namespace(**metadata: str) -> Document:
    going = {"name": "shop", "deletionTimestamp": "now", **metadata}
    return {"metadata": going, "spec": {"finalizers": ["kubernetes"]}, "status": {}}


def held(**metadata: object) -> dict[Resource, list[SeenObject]]:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}
    return {CONFIG_MAPS: [SeenObject(AnyObject.from_dict(document))]}


def test_what_is_in_a_namespace_that_goes_is_deleted_once() -> None:
    going = held(deletionTimestamp="2025-01-01T00:00:00Z", finalizers=["example.com/hold"])

    assert [type(each) for each in decide_emptying(namespace(), held(), NOW).at_once] == [Delete]
    assert decide_emptying(namespace(), going, NOW).at_once == []


def test_the_conditions_say_what_is_left_and_who_holds_it() -> None:
    (update,) = decide_emptying(namespace(), held(finalizers=["example.com/hold"]), NOW).actions

    assert isinstance(update, Update)
    messages = [each["message"] for each in update.document["status"]["conditions"][3:]]
    assert messages == [
        "Some resources are remaining: configmaps. has 1 resource instances",
        (
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 "
            "resource instances"
        ),
    ]


def test_an_empty_namespace_is_released_when_its_conditions_say_so() -> None:
    (said,) = decide_emptying(namespace(), {}, NOW).actions
    assert isinstance(said, Update)

    (released,) = decide_emptying(dict(said.document), {}, NOW).actions

    assert isinstance(released, Update)
    assert released.subresource == "finalize"
    assert released.document["spec"]["finalizers"] == []


def test_a_namespace_that_stays_is_left_alone() -> None:
    staying = namespace()
    del staying["metadata"]["deletionTimestamp"]

    assert not decide_emptying(staying, held(), NOW).at_once
