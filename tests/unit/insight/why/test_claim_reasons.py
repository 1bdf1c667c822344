"""Why the claims of a pod that no node takes are not there."""

from __future__ import annotations

from typing import Any

from reflet.insight.why.claim_reasons import claims_of
from reflet.insight.why.cluster_state import ClaimSeen, StorageClassSeen, VolumeSeen
from reflet.insight.why.diagnosis import GroupedReason
from tests.unit.insight.why.scenes import (
    made,
    metadata,
    node,
    only_reason,
    pod,
    unschedulable,
    warning,
)

DATA = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
UNBOUND = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
OUT_OF_REACH = "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity."


def claim(phase: str = "Pending", *, meta: dict[str, Any] | None = None, **spec: Any) -> ClaimSeen:
    document = {"metadata": metadata("data", **(meta or {})), "spec": spec}
    found: ClaimSeen = made(ClaimSeen, {**document, "status": {"phase": phase}})
    return found


def storage_class(name: str, *, default: bool = False, mode: str = "Immediate") -> StorageClassSeen:
    key = "storageclass.kubernetes.io/is-default-class"
    annotations = {key: "true"} if default else {}
    found: StorageClassSeen = made(
        StorageClassSeen,
        {"metadata": {"name": name, "annotations": annotations}, "volumeBindingMode": mode},
    )
    return found


def reason_for(*claims: ClaimSeen, words: str = UNBOUND, **more: Any) -> GroupedReason:
    waiting = pod(status=unschedulable(words), nodeName="", volumes=DATA)
    return only_reason(waiting, claims=claims, nodes=[node()], **more)


def test_a_claim_that_does_not_exist() -> None:
    reason = reason_for(words='0/1 nodes are available: persistentvolumeclaim "data" not found.')

    assert reason.reason.message == (
        "PersistentVolumeClaim shop/data does not exist: no node takes the pod"
    )
    assert [signal.reason for signal in reason.explains] == ["Unschedulable"]


def test_a_claim_of_a_class_that_does_not_exist() -> None:
    reason = reason_for(claim(storageClassName="fast"), storage_classes=[storage_class("slow")])

    assert reason.reason.message == "StorageClass fast does not exist: the claim stays unbound"


def test_a_claim_without_a_class_where_none_is_the_default() -> None:
    reason = reason_for(claim(), storage_classes=[storage_class("slow")])

    assert reason.reason.message == (
        "PersistentVolumeClaim shop/data has no volume: no StorageClass is the default"
    )
    assert reason.fix.startswith("give the claim a storageClassName")


def test_a_claim_that_its_provisioner_fails() -> None:
    words = "failed to provision volume with StorageClass: quota of disks exceeded"
    event = warning("ProvisioningFailed", words, about="data", kind="PersistentVolumeClaim")

    reason = reason_for(
        claim(), storage_classes=[storage_class("fast", default=True)], events=[event]
    )

    assert reason.reason.message == (
        f"PersistentVolumeClaim shop/data has no volume of class fast: {words}"
    )
    assert reason.fix == "kubectl describe pvc data -n shop"


def test_a_claim_that_waits_for_the_pod_is_not_why_the_pod_waits() -> None:
    late = storage_class("late", default=True, mode="WaitForFirstConsumer")

    reason = reason_for(
        claim(), storage_classes=[late], words="0/1 nodes are available: 1 Insufficient cpu."
    )

    assert reason.reason.message == "no node takes the pod: 1 with too little cpu left"


def test_a_claim_that_has_lost_its_volume() -> None:
    reason = reason_for(claim("Lost"))

    assert reason.reason.message == "PersistentVolumeClaim shop/data has lost its volume"


def test_a_claim_that_is_being_deleted() -> None:
    reason = reason_for(claim("Bound", meta={"deletionTimestamp": "2026-01-01T11:00:00Z"}))

    assert reason.reason.message == "PersistentVolumeClaim shop/data is being deleted"


def test_a_volume_on_another_node() -> None:
    zone = {"key": "zone", "operator": "In", "values": ["b"]}
    terms = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    volume = made(VolumeSeen, {"metadata": {"name": "pv-1"}, "spec": {"nodeAffinity": terms}})

    reason = reason_for(claim("Bound", volumeName="pv-1"), volumes=[volume], words=OUT_OF_REACH)

    assert reason.reason.message == (
        "no node that could take the pod reaches the volume of PersistentVolumeClaim shop/data: "
        "it is where zone=b"
    )


def test_a_volume_on_another_node_whose_place_is_not_known() -> None:
    reason = reason_for(claim("Bound", volumeName="pv-1"), words=OUT_OF_REACH)

    assert reason.reason.message == (
        "no node that could take the pod reaches the volume of PersistentVolumeClaim shop/data"
    )


def test_ephemeral_volumes_have_claims_named_after_the_pod() -> None:
    volumes = [*DATA, {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]

    assert [*claims_of(pod(volumes=volumes))] == ["data", "web-1-scratch"]
