"""A pod belongs to the outermost of its controllers, as far as they are known."""

from __future__ import annotations

from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta, OwnerReference, PartialObjectMetadata
from reflet.insight.owners import Owners


def owned(name: str, *owners: tuple[str, str], controller: bool = True) -> ObjectMeta:
    references = tuple(
        OwnerReference(kind=kind, name=other, controller=controller) for kind, other in owners
    )
    return ObjectMeta(name=name, namespace="shop", owner_references=references)


def made(name: str, *owners: tuple[str, str]) -> PartialObjectMetadata:
    return PartialObjectMetadata(metadata=owned(name, *owners))


def test_controllers_are_followed_to_the_last() -> None:
    owners = Owners([("ReplicaSet", made("web-1", ("Deployment", "web")))])

    pod = Pod(metadata=owned("web-1-x", ("ReplicaSet", "web-1")))

    assert owners.of(pod) == (("Pod", "web-1-x"), ("ReplicaSet", "web-1"), ("Deployment", "web"))


def test_a_controller_of_which_nothing_is_known_still_has_a_name() -> None:
    assert Owners().of(Pod(metadata=owned("a", ("Rollout", "web"))))[-1] == ("Rollout", "web")


def test_an_owner_that_does_not_control_is_none() -> None:
    pod = Pod(metadata=owned("a", ("Deployment", "web"), controller=False))

    assert Owners().of(pod) == (("Pod", "a"),)


def test_owners_in_a_circle_have_an_end() -> None:
    circle = [
        ("ReplicaSet", made("a", ("ReplicaSet", "b"))),
        ("ReplicaSet", made("b", ("ReplicaSet", "a"))),
    ]

    assert Owners(circle).of(Pod(metadata=owned("x", ("ReplicaSet", "a"))))[-1] == (
        "ReplicaSet",
        "b",
    )
