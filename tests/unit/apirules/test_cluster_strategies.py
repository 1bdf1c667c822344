"""What kinds that configure the cluster get and keep."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.apirules.admission import prepare_create, prepare_update
from tests.unit.devserver.object_scene import created, kind_of, surroundings

NOW = "2020-02-03T04:05:06Z"
REQUESTS = kind_of("certificatesigningrequests", "certificates.k8s.io")
DRIVERS = kind_of("csidrivers", "storage.k8s.io")
ATTACHMENTS = kind_of("volumeattachments", "storage.k8s.io")
SLICES = kind_of("resourceslices", "resource.k8s.io")


def updated(kind: Any, old: Any, document: Any, subresource: str = "") -> Any:
    return prepare_update(
        kind,
        old,
        document,
        namespace="",
        subresource=subresource,
        surroundings=surroundings(),
    )


def a_request(**fields: Any) -> dict[str, Any]:
    spec = {"request": "AAAA", "signerName": "example.com/s", "usages": ["client auth"]}
    return {"metadata": {"name": "x"}, "spec": spec | fields}


def test_a_certificate_request_says_who_really_asks() -> None:
    user = {"username": "jane", "groups": ["system:authenticated"]}
    outside = msgspec.structs.replace(surroundings(), requester=user)

    made = prepare_create(
        REQUESTS, a_request(username="root", uid="0"), namespace="", surroundings=outside
    )

    assert {name: made["spec"].get(name) for name in ("username", "groups", "uid")} == {
        **user,
        "uid": None,
    }
    assert made["status"] == {}


def test_a_certificate_request_never_changes() -> None:
    old = created(REQUESTS, a_request())

    made = updated(REQUESTS, old, a_request(signerName="example.com/other"))

    assert made["spec"] == old["spec"]


def test_an_approval_dates_conditions_and_touches_nothing_else() -> None:
    old = created(REQUESTS, a_request()) | {"status": {"certificate": "BBBB"}}
    approved = {"type": "Approved", "status": "True"}
    change = {**old, "status": {"conditions": [approved], "certificate": "CCCC"}}

    made = updated(REQUESTS, old, change, "approval")

    dated = approved | {"lastUpdateTime": NOW, "lastTransitionTime": NOW}
    assert made["status"] == {"conditions": [dated], "certificate": "BBBB"}


def test_the_status_of_a_certificate_request_keeps_who_approved() -> None:
    then = "2019-01-01T00:00:00Z"
    approved = {"type": "Approved", "status": "True", "reason": "Yes"}
    approved |= {"lastUpdateTime": then, "lastTransitionTime": then}
    old = created(REQUESTS, a_request()) | {"status": {"conditions": [approved]}}
    failed = {"type": "Failed", "status": "True"}
    change = {**old, "status": {"conditions": [approved | {"reason": "Forged"}, failed]}}

    made = updated(REQUESTS, old, change, "status")

    first, second = made["status"]["conditions"]
    assert (first["reason"], first["lastUpdateTime"]) == ("Yes", then)
    assert second["lastTransitionTime"] == NOW


@pytest.mark.parametrize(("service", "conditions"), [(None, 1), ({"name": "s"}, 0)])
def test_an_api_service_of_the_server_itself_is_there_at_once(
    service: dict[str, str] | None, conditions: int
) -> None:
    spec = {"group": "g.example", "version": "v1"} | ({"service": service} if service else {})
    body = {"metadata": {"name": "v1.g.example"}, "spec": spec}

    made = created(kind_of("apiservices", "apiregistration.k8s.io"), body)

    assert len(made["status"].get("conditions", ())) == conditions


def test_changes_of_a_driver_are_counted_from_the_first() -> None:
    old = created(DRIVERS, {"metadata": {"name": "d"}, "spec": {}})

    made = updated(DRIVERS, old, {**old, "spec": {**old["spec"], "requiresRepublish": True}})

    assert "generation" not in old["metadata"]
    assert made["metadata"]["generation"] == 1
    assert "generation" not in updated(DRIVERS, old, old)["metadata"]


def test_what_is_still_alpha_is_dropped_from_a_driver() -> None:
    spec = {"preventPodSchedulingIfMissing": True}

    made = created(DRIVERS, {"metadata": {"name": "d"}, "spec": spec})

    assert "preventPodSchedulingIfMissing" not in made["spec"]


def test_a_volume_attributes_class_is_protected() -> None:
    body = {"metadata": {"name": "v"}, "driverName": "d"}

    made = created(kind_of("volumeattributesclasses", "storage.k8s.io"), body)

    assert made["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]


def test_a_taint_of_a_device_is_dated() -> None:
    device = {"name": "d", "taints": [{"key": "k", "effect": "NoSchedule"}]}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example", "pool": pool, "devices": [device]}

    made = created(SLICES, {"metadata": {"name": "s"}, "spec": spec})

    assert made["spec"]["devices"][0]["taints"][0]["timeAdded"] == NOW
    assert made["metadata"]["generation"] == 1


def test_a_write_to_the_status_keeps_the_metadata() -> None:
    spec = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    body = {"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": spec}
    old = created(ATTACHMENTS, body)
    changed = {**old["metadata"], "labels": {"c": "d"}, "annotations": {"e": "f"}}

    made = updated(
        ATTACHMENTS, old, {**old, "metadata": changed, "status": {"attached": True}}, "status"
    )

    assert made["metadata"]["labels"] == {"a": "b"}
    assert "annotations" not in made["metadata"]
    assert made["status"] == {"attached": True}


@pytest.mark.parametrize(
    "plural", ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
)
def test_the_generation_of_webhooks_counts_changes_of_webhooks(plural: str) -> None:
    kind = kind_of(plural, "admissionregistration.k8s.io")
    old = created(kind, {"metadata": {"name": "w"}, "webhooks": []})
    labelled = {**old["metadata"], "labels": {"a": "b"}}

    assert updated(kind, old, {**old, "metadata": labelled})["metadata"]["generation"] == 1
    changed = updated(kind, old, {**old, "webhooks": [{"name": "h.example.com"}]})
    assert changed["metadata"]["generation"] == 2
