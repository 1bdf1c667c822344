"""What may change of devices, drivers, endpoints, jobs and services is what the real one lets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.real.devserver_objects import (
    APPS,
    BATCH,
    CORE,
    Manifest,
    cron_job,
    job,
    pod,
    service,
    workload,
)
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.good_devices import (
    ALLOCATION,
    CLAIMS,
    CLASSES,
    DEVICE_STATUS,
    SLICES,
    TEMPLATES,
    claim_template,
    device_claim,
    device_class,
    resource_slice,
)
from tests.real.good_drivers import (
    ATTACHMENTS,
    ATTRIBUTES_CLASSES,
    CAPACITIES,
    CSI_DRIVERS,
    CSI_NODES,
    ENDPOINT_SLICES,
    IP_ADDRESSES,
    RUNTIME_CLASSES,
    attachment,
    attributes_class,
    capacity,
    csi_driver,
    csi_node,
    endpoint_slice,
    ip_address,
    runtime_class,
)
from tests.real.kube_server import KubeServer

Change = Callable[[Any], object]
Update = tuple[str, str, Manifest, Change]

LABELLED: Change = lambda made: made["metadata"].update(labels={"a b": "c"})  # noqa: E731 - a value
GATED: Manifest = {"schedulingGates": [{"name": "wait"}], "nodeSelector": {"a": "b"}}
BALANCED: Manifest = {
    "type": "LoadBalancer",
    "ports": [{"port": 80}],
    "externalTrafficPolicy": "Local",
}


def _spec(**fields: Any) -> Change:
    return lambda made: made["spec"].update(fields)


def _set(**fields: Any) -> Change:
    return lambda made: made.update(fields)


UPDATES: list[Update] = [
    ("endpoints of another type", ENDPOINT_SLICES, endpoint_slice(), _set(addressType="IPv6")),
    ("bad endpoints", ENDPOINT_SLICES, endpoint_slice(), _set(endpoints=[{"addresses": ["x"]}])),
    ("endpoints labelled", ENDPOINT_SLICES, endpoint_slice(), LABELLED),
    (
        "address of another",
        IP_ADDRESSES,
        ip_address("10.77.0.9"),
        _spec(parentRef={"resource": "services", "name": "other"}),
    ),
    ("address of nobody", IP_ADDRESSES, ip_address("10.77.0.10"), _set(spec={})),
    ("driver attached", CSI_DRIVERS, csi_driver(), _spec(attachRequired=False)),
    ("driver informed", CSI_DRIVERS, csi_driver(), _spec(podInfoOnMount=True)),
    ("driver of other modes", CSI_DRIVERS, csi_driver(), _spec(volumeLifecycleModes=["x"])),
    (
        "node of more volumes",
        CSI_NODES,
        csi_node({"name": "d", "nodeID": "n"}),
        lambda made: made["spec"]["drivers"][0].update(allocatable={"count": 5}),
    ),
    (
        "node of another name",
        CSI_NODES,
        csi_node({"name": "d", "nodeID": "n"}),
        lambda made: made["spec"]["drivers"][0].update(nodeID="m"),
    ),
    ("capacity elsewhere", CAPACITIES, capacity(), _set(nodeTopology={"matchLabels": {"a": "b"}})),
    ("capacity of another class", CAPACITIES, capacity(), _set(storageClassName="slow")),
    ("capacity grows", CAPACITIES, capacity(), _set(capacity="20Gi")),
    ("attached elsewhere", ATTACHMENTS, attachment(), _spec(nodeName="n2")),
    ("attachment labelled", ATTACHMENTS, attachment(), LABELLED),
    ("other attributes", ATTRIBUTES_CLASSES, attributes_class(), _set(parameters={"a": "b"})),
    ("attributes elsewhere", ATTRIBUTES_CLASSES, attributes_class(), _set(driverName="e")),
    ("other handler", RUNTIME_CLASSES, runtime_class(), _set(handler="kata")),
    ("runtime labelled", RUNTIME_CLASSES, runtime_class(), LABELLED),
    (
        "claim of more",
        CLAIMS,
        device_claim(),
        lambda made: made["spec"]["devices"]["requests"][0]["exactly"].update(count=2),
    ),
    ("claim labelled", CLAIMS, device_claim(), LABELLED),
    (
        "template of more",
        TEMPLATES,
        claim_template({"labels": {"a": "b"}}),
        lambda made: made["spec"]["metadata"].update(labels={"a": "c"}),
    ),
    ("class of less", CLASSES, device_class(), _spec(config=[{}])),
    (
        "slice elsewhere",
        SLICES,
        resource_slice({"name": "a"}),
        _spec(driver="e", nodeName="m", pool={"name": "q", "resourceSliceCount": 1}),
    ),
    ("slice of more", SLICES, resource_slice({"name": "a"}), _spec(devices=[{"name": "b"}])),
    ("job of more", f"{BATCH}/jobs", job(), _spec(completions=7)),
    (
        "indexed job of more",
        f"{BATCH}/jobs",
        job(completionMode="Indexed", completions=2, parallelism=2),
        _spec(completions=3, parallelism=3),
    ),
    (
        "indexed job of more alone",
        f"{BATCH}/jobs",
        job(completionMode="Indexed", completions=2, parallelism=2),
        _spec(completions=3),
    ),
    ("job of another", f"{BATCH}/jobs", job(managedBy="a.b/c"), _spec(managedBy="a.b/d")),
    ("job of bad numbers", f"{BATCH}/jobs", job(), _spec(parallelism=-1)),
    ("cron job at a bad time", f"{BATCH}/cronjobs", cron_job(), _spec(schedule="x")),
    ("cron job elsewhere", f"{BATCH}/cronjobs", cron_job(), _spec(timeZone="Nowhere/City")),
    (
        "stateful set rolled badly",
        f"{APPS}/statefulsets",
        workload("StatefulSet", serviceName="a"),
        _spec(updateStrategy={"type": "Never"}, ordinals={"start": -1}),
    ),
    (
        "daemon set rolled badly",
        f"{APPS}/daemonsets",
        workload("DaemonSet"),
        _spec(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
    ),
    ("waiting pod of more", f"{CORE}/pods", pod(**GATED), _spec(nodeSelector={"a": "b", "c": "d"})),
    ("waiting pod of less", f"{CORE}/pods", pod(**GATED), _spec(nodeSelector={"a": "c"})),
    (
        "short patience",
        f"{CORE}/pods",
        pod(),
        lambda made: made["spec"]["tolerations"][0].update(tolerationSeconds=5),
    ),
    ("other balancer", f"{CORE}/services", service(**BALANCED), _spec(loadBalancerClass="a.b/c")),
    ("other health check", f"{CORE}/services", service(**BALANCED), _spec(healthCheckNodePort=31)),
    ("inside only", f"{CORE}/services", service(**BALANCED), _spec(type="ClusterIP")),
    (
        "other family",
        f"{CORE}/services",
        service(ports=[{"port": 80}]),
        _spec(ipFamilies=["IPv6"], ipFamilyPolicy="Any"),
    ),
]


def _what_counts(body: Any) -> Any:
    if body.get("kind") != "Status":
        return body
    return {name: body.get(name) for name in ("code", "reason", "message", "details", "status")}


def _compare(
    kube: KubeServer,
    namespace: str,
    case: tuple[str, Manifest, Change],
    *,
    subresource: str = "",
) -> None:
    place, body, change = case
    place = place.replace("{namespace}", namespace)
    body = json.loads(json.dumps(body).replace("{namespace}", namespace))
    created = kube.request("POST", place, body)
    assert created.code == 201, created.body
    wanted = copy.deepcopy(created.body)
    change(wanted)
    name = created.body["metadata"]["name"]

    real = kube.request("PUT", f"{place}/{name}/{subresource}".rstrip("/"), wanted)
    ours = DevServerSide().update(place, created.body, wanted, subresource=subresource)

    assert ours.code == real.code, real.body
    assert comparable(_what_counts(ours.body)) == comparable(_what_counts(real.body))


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update[0])
def test_an_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: Update
) -> None:
    _compare(kube, namespace, update[1:])


CONSUMER = {"resource": "pods", "name": "p", "uid": "u"}
GIVEN = {"allocation": ALLOCATION}
STATUSES: list[tuple[str, str, Manifest, dict[str, Any]]] = [
    ("allocated", CLAIMS, device_claim(), GIVEN | {"reservedFor": [CONSUMER]}),
    ("reported", CLAIMS, device_claim(), GIVEN | {"devices": [DEVICE_STATUS]}),
    ("reserved alone", CLAIMS, device_claim(), {"reservedFor": [CONSUMER]}),
    ("reserved badly", CLAIMS, device_claim(), GIVEN | {"reservedFor": [CONSUMER, CONSUMER, {}]}),
    (
        "allocated badly",
        CLAIMS,
        device_claim(),
        {
            "allocation": {
                "devices": {
                    "results": [{"request": "two", "shareID": "x"}],
                    "config": [{"source": "Nowhere"}],
                },
                "nodeSelector": {},
            }
        },
    ),
    (
        "reported badly",
        CLAIMS,
        device_claim(),
        GIVEN
        | {
            "devices": [
                DEVICE_STATUS
                | {
                    "device": "other",
                    "conditions": [{}],
                    "data": [],
                    "networkData": {"interfaceName": "e" * 257, "ips": ["x", "010.1.1.1/8"]},
                }
            ]
        },
    ),
    (
        "attached badly",
        ATTACHMENTS,
        attachment(),
        {"attached": False, "attachError": {"message": "a" * 1025, "errorCode": -1}},
    ),
]


@pytest.mark.parametrize("update", STATUSES, ids=lambda update: update[0])
def test_a_status_update_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: tuple[str, str, Manifest, dict[str, Any]]
) -> None:
    _, place, body, status = update
    change: Change = lambda made: made.update(status=status)  # noqa: E731 - one value of several
    _compare(kube, namespace, (place, body, change), subresource="status")
