"""What may change of volumes, claims, classes, quotas and limits is what the real server lets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.real.devserver_objects import Manifest
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.good_storage import (
    CLAIMS,
    LIMIT_RANGES,
    PRIORITY_CLASSES,
    QUOTAS,
    SOURCES,
    STORAGE_CLASSES,
    VOLUMES,
    ZONES,
    claim,
    limits,
    priority_class,
    quota,
    storage_class,
    volume,
)
from tests.real.kube_server import KubeServer

Change = Callable[[Any], object]
Update = tuple[str, str, Manifest, Change]

OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
OLD_ZONES = json.loads(
    json.dumps(ZONES).replace("topology.kubernetes.io", "failure-domain.beta.kubernetes.io")
)


def _spec(**fields: Any) -> Change:
    """Set fields of the spec; None takes one away."""

    def change(made: Any) -> None:
        made["spec"].update(fields)
        for name in [name for name, value in fields.items() if value is None]:
            del made["spec"][name]

    return change


def _set(**fields: Any) -> Change:
    return lambda made: made.update(fields)


def _size(amount: str) -> Change:
    return _spec(resources={"requests": {"storage": amount}})


def _annotated(**spec: Any) -> Manifest:
    return claim({"annotations": {OLD_CLASS: "a"}}, **spec)


CSI = {"driver": "d", "volumeHandle": "h"}
SECRET = {"name": "s", "namespace": "n"}
UPDATES: list[Update] = [
    *(
        (
            f"no {name} any more",
            VOLUMES,
            volume(nodeAffinity=ZONES, **{name: source}),
            _spec(**{name: None, "hostPath" if name != "hostPath" else "local": {"path": "/x"}}),
        )
        for name, source in SOURCES.items()
    ),
    ("another folder", VOLUMES, volume(), _spec(hostPath={"path": "/other"})),
    ("same folder", VOLUMES, volume(), _spec(hostPath={"path": "/data"})),
    ("volume of nothing", VOLUMES, volume(), _set(spec={})),
    ("larger volume", VOLUMES, volume(), _spec(capacity={"storage": "2Gi"})),
    ("volume kept", VOLUMES, volume(), _spec(persistentVolumeReclaimPolicy="Delete")),
    ("volume as a device", VOLUMES, volume(), _spec(volumeMode="Block")),
    ("volume claimed", VOLUMES, volume(), _spec(claimRef={"namespace": "n", "name": "c"})),
    ("volume of a class", VOLUMES, volume(), _spec(storageClassName="fast")),
    ("first affinity", VOLUMES, volume(), _spec(nodeAffinity=ZONES)),
    ("no affinity", VOLUMES, volume(nodeAffinity=ZONES), _spec(nodeAffinity=None)),
    ("new zones", VOLUMES, volume(nodeAffinity=OLD_ZONES), _spec(nodeAffinity=ZONES)),
    ("old zones", VOLUMES, volume(nodeAffinity=ZONES), _spec(nodeAffinity=OLD_ZONES)),
    (
        "first secret for expansion",
        VOLUMES,
        volume(csi=CSI),
        _spec(csi=CSI | {"controllerExpandSecretRef": SECRET}),
    ),
    (
        "another secret for expansion",
        VOLUMES,
        volume(csi=CSI | {"controllerExpandSecretRef": SECRET}),
        _spec(csi=CSI | {"controllerExpandSecretRef": {"name": "t", "namespace": "n"}}),
    ),
    ("other handle", VOLUMES, volume(csi=CSI), _spec(csi=CSI | {"volumeHandle": "i"})),
    (
        "no attributes",
        VOLUMES,
        volume(csi=CSI, volumeAttributesClassName="gold"),
        _spec(volumeAttributesClassName=None),
    ),
    ("bad label", VOLUMES, volume(), lambda made: made["metadata"].update(labels={"a b": "c"})),
    ("claim as it is", CLAIMS, claim(), lambda made: made["metadata"].update(labels={"a": "b"})),
    ("claim bad label", CLAIMS, claim(), lambda made: made["metadata"].update(labels={"a b": ""})),
    ("claim larger", CLAIMS, claim(), _size("2Gi")),
    ("claim smaller", CLAIMS, claim(), _size("1Mi")),
    ("claim as large in other words", CLAIMS, claim(), _size("1024Mi")),
    ("claim of nothing", CLAIMS, claim(), _set(spec={})),
    ("claim in other modes", CLAIMS, claim(), _spec(accessModes=["ReadWriteMany"])),
    ("claim as a device", CLAIMS, claim(), _spec(volumeMode="Block")),
    ("claim bound", CLAIMS, claim(), _spec(volumeName="pv")),
    ("claim bound elsewhere", CLAIMS, claim(volumeName="pv"), _spec(volumeName="other")),
    ("claim with a first class", CLAIMS, claim(), _spec(storageClassName="fast")),
    ("claim of another class", CLAIMS, claim(storageClassName="a"), _spec(storageClassName="b")),
    ("claim of no class", CLAIMS, claim(storageClassName="a"), _spec(storageClassName=None)),
    ("class from an annotation", CLAIMS, _annotated(), _spec(storageClassName="a")),
    ("class against an annotation", CLAIMS, _annotated(), _spec(storageClassName="b")),
    (
        "other annotation",
        CLAIMS,
        _annotated(),
        lambda made: made["metadata"].update(annotations={OLD_CLASS: "b"}),
    ),
    ("claim with a selector", CLAIMS, claim(), _spec(selector={"matchLabels": {"a": "b"}})),
    ("claim with an empty selector", CLAIMS, claim(), _spec(selector={})),
    ("claim with attributes", CLAIMS, claim(), _spec(volumeAttributesClassName="gold")),
    (
        "claim without its source",
        CLAIMS,
        claim(dataSource={"kind": "PersistentVolumeClaim", "name": "c"}),
        _spec(dataSourceRef=None),
    ),
    ("class elsewhere", STORAGE_CLASSES, storage_class(), _set(provisioner="b")),
    ("class of nobody", STORAGE_CLASSES, storage_class(), _set(provisioner="")),
    (
        "class with parameters",
        STORAGE_CLASSES,
        storage_class(),
        _set(parameters={"b": "", "a": ""}),
    ),
    (
        "class without parameters",
        STORAGE_CLASSES,
        storage_class(parameters={"a": "b"}),
        _set(parameters=None),
    ),
    ("class kept", STORAGE_CLASSES, storage_class(), _set(reclaimPolicy="Retain")),
    (
        "class bound later",
        STORAGE_CLASSES,
        storage_class(),
        _set(volumeBindingMode="WaitForFirstConsumer"),
    ),
    ("class that grows", STORAGE_CLASSES, storage_class(), _set(allowVolumeExpansion=True)),
    ("other value", PRIORITY_CLASSES, priority_class(), _set(value=5)),
    ("other policy", PRIORITY_CLASSES, priority_class(), _set(preemptionPolicy="Never")),
    ("described", PRIORITY_CLASSES, priority_class(), _set(description="new")),
    ("more pods", QUOTAS, quota(), _spec(hard={"pods": "20"})),
    ("bad quota", QUOTAS, quota(), _spec(hard={"foo": "-1"})),
    ("first scope", QUOTAS, quota(), _spec(scopes=["Terminating"])),
    ("no scope", QUOTAS, quota(scopes=["Terminating"]), _spec(scopes=None)),
    ("other limits", LIMIT_RANGES, limits(), _spec(limits=[{"type": "Pod", "max": {"cpu": "1"}}])),
    ("bad limits", LIMIT_RANGES, limits(), _spec(limits=[{"type": "Node"}])),
]


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update[0])
def test_an_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: Update
) -> None:
    _, path, body, change = update
    path, created = _created(kube, namespace, path, body)
    wanted = copy.deepcopy(created)
    change(wanted)

    _compare(kube, path, created, wanted)


BOUND_UPDATES: list[tuple[str, Change]] = [
    ("smaller than it is", _size("1Mi")),
    ("smaller, though not than it is", _size("3Gi")),
    ("other attributes", _spec(volumeAttributesClassName="silver")),
    ("no attributes", _spec(volumeAttributesClassName=None)),
    ("empty attributes", _spec(volumeAttributesClassName="")),
    ("other modes", _spec(accessModes=["ReadWriteMany"])),
]


@pytest.mark.parametrize(
    ("title", "change"), BOUND_UPDATES, ids=[each[0] for each in BOUND_UPDATES]
)
def test_an_update_of_a_bound_claim_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, title: str, change: Change
) -> None:
    body = claim(volumeName="pv", volumeAttributesClassName="gold")
    body["spec"]["resources"] = {"requests": {"storage": "4Gi"}}
    path, created = _created(kube, namespace, CLAIMS, body)
    created["status"] = {
        "phase": "Bound",
        "capacity": {"storage": "2Gi"},
        "currentVolumeAttributesClassName": "gold",
    }
    bound = kube.request("PUT", f"{path}/x/status", created)
    assert bound.code == 200, bound.body
    wanted = copy.deepcopy(bound.body)
    change(wanted)

    _compare(kube, path, bound.body, wanted)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (CLAIMS, claim(), {"capacity": {"storage": "-1"}}),
        (CLAIMS, claim(), {"allocatedResourceStatuses": {"cpu": "Odd"}}),
        (CLAIMS, claim(), {"allocatedResources": {"a b": "1"}}),
        (CLAIMS, claim(), {"allocatedResources": {"storage": "-1"}}),
        (CLAIMS, claim(), {"phase": "Bound", "capacity": {"storage": "1Gi"}}),
        (QUOTAS, quota(), {"hard": {"foo": "-1"}, "used": {"pods": "500m"}}),
        (QUOTAS, quota(), {"hard": {"pods": "10"}, "used": {"pods": "1"}}),
    ],
)
def test_a_status_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, path: str, body: Manifest, status: Manifest
) -> None:
    path, created = _created(kube, namespace, path, body)
    wanted = copy.deepcopy(created)
    wanted["status"] = wanted["status"] | status

    _compare(kube, path, created, wanted, subresource="status")


def test_limits_without_a_name_get_one(kube: KubeServer, namespace: str) -> None:
    path = LIMIT_RANGES.replace("{namespace}", namespace)
    body = limits({"type": "Pod"}) | {"metadata": {}}

    real = kube.request("POST", path, body)
    ours = DevServerSide().create(path, body)

    assert real.code == ours.code == 201
    assert comparable(ours.body) == comparable(real.body)
    assert comparable(ours.body)["metadata"]["name"] == "uid"


def _created(
    kube: KubeServer, namespace: str, path: str, body: Manifest
) -> tuple[str, dict[str, Any]]:
    path = path.replace("{namespace}", namespace)
    body = json.loads(json.dumps(body).replace("{namespace}", namespace))
    created = kube.request("POST", path, body)
    assert created.code == 201, created.body
    return path, created.body


def _compare(
    kube: KubeServer, path: str, created: Any, wanted: Any, *, subresource: str = ""
) -> None:
    place = "/".join(filter(None, (path, created["metadata"]["name"], subresource)))
    real = kube.request("PUT", place, wanted)
    ours = DevServerSide().update(path, created, wanted, subresource=subresource)

    assert ours.code == real.code, real.body
    if real.code == 422:
        assert ours.body["message"] == real.body["message"]
        assert ours.body["details"] == real.body["details"]
    else:
        assert comparable(ours.body) == comparable(real.body)
