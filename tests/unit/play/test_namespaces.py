from __future__ import annotations

from typing import Any

from reflet.play.namespaces import account_player, empty_namespace, release_volume
from tests.unit.play.documents_scene import (
    GOING,
    Document,
    metadata,
    pod,
    status_of,
    view_of,
    words,
)


def namespace(**more: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "resourceVersion": "1", **more},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {},
    }


def config_map(**more: Any) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("a", **more)}


def test_what_is_in_a_namespace_that_goes_is_deleted_once() -> None:
    going = config_map(finalizers=["example.com/hold"], **GOING)

    assert words(empty_namespace(view_of(config_map()), namespace(**GOING))) == ["delete a"]
    assert words(empty_namespace(view_of(going), namespace(**GOING))) == []


def test_the_conditions_say_what_is_left_and_who_holds_it() -> None:
    held = config_map(finalizers=["example.com/hold"])

    status = status_of(empty_namespace(view_of(held), namespace(**GOING)))

    assert [each["message"] for each in status["conditions"]] == [
        "Some resources are remaining: configmaps. has 1 resource instances",
        (
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 "
            "resource instances"
        ),
    ]


def test_an_empty_namespace_is_released() -> None:
    (released,) = empty_namespace(view_of(), namespace(**GOING)).actions

    assert released.document["spec"]["finalizers"] == []


def test_a_namespace_that_stays_is_left_alone() -> None:
    assert not empty_namespace(view_of(config_map()), namespace()).actions


def test_a_namespace_gets_an_account_and_the_authority_unless_it_is_going() -> None:
    decide = account_player(b"PEM").decide

    assert words(decide(view_of(), namespace())) == ["make default", "make kube-root-ca.crt"]
    assert words(decide(view_of(), namespace(**GOING))) == []


def test_the_authority_is_written_again_when_it_was_changed() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("default")}
    bundle = {**config_map(), "metadata": metadata("kube-root-ca.crt"), "data": {"ca.crt": "PEM"}}
    decide = account_player(b"PEM").decide

    assert words(decide(view_of(account, bundle), namespace())) == []
    changed = {**bundle, "data": {}}
    assert words(decide(view_of(account, changed), namespace())) == ["write kube-root-ca.crt"]


def claim(**more: Any) -> Document:
    held = {"finalizers": ["kubernetes.io/pvc-protection", "example.com/hold"], **more}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata("data", **held),
    }


def test_a_claim_goes_when_no_pod_that_runs_uses_it() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    using, done = pod(volumes=volumes), pod(volumes=volumes, phase="Succeeded")

    (released,) = release_volume(view_of(done), claim(**GOING)).actions

    assert released.document["metadata"]["finalizers"] == ["example.com/hold"]
    assert not release_volume(view_of(using), claim(**GOING)).actions
    assert not release_volume(view_of(), claim()).actions
