"""``endpoints`` of play: where the pods behind a Service are, as EndpointSlices and as Endpoints.

IPv4 only; topology hints are not given.

Upstream: k8s.io/endpointslice/reconciler.go; pkg/controller/endpoint/endpoints_controller.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from reflet.api.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES
from reflet.play.actions import Action, Create, Delete, Document, NextActions, Update
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, itself
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.workloads.workload_pods import is_ready, owner_reference, phase_of

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
SLICES: Final = "endpointslice-controller.k8s.io"
HEADLESS: Final = "service.kubernetes.io/headless"
BIGGEST_SLICE: Final = 100  # endpoints
BIGGEST_ENDPOINTS: Final = 1000


async def decide(view: ClusterView, key: str) -> NextActions:
    """Look at one Service."""
    service = view.get(SERVICES, key)
    if service is None or "deletionTimestamp" in service["metadata"]:
        return NextActions()
    if not service["spec"].get("selector") or service["spec"].get("type") == "ExternalName":
        return NextActions()
    namespace, _, name = key.partition("/")
    pods = [pod for pod in view.all(PODS, namespace) if _is_behind(service, pod)]
    slices = [
        each
        for each in view.all(ENDPOINT_SLICES, namespace)
        if each["metadata"].get("labels", {}).get(SERVICE_NAME) == name
        and each["metadata"]["labels"].get(MANAGED_BY) == SLICES
    ]
    return NextActions(
        [
            *slice_actions(service, pods, slices),
            *_endpoints_actions(service, pods, view.get(ENDPOINTS, key)),
        ]
    )


def _is_behind(service: Document, pod: Document) -> bool:
    labels = pod["metadata"].get("labels") or {}
    selector = service["spec"]["selector"]
    return (
        selector.items() <= labels.items()
        and bool(pod.get("status", {}).get("podIP"))
        and phase_of(pod) not in FINISHED
    )


def slice_actions(
    service: Document, pods: Sequence[Document], slices: Sequence[Document]
) -> list[Action]:
    """Make the slices what they should be: a hundred endpoints in each, by ports."""
    wanted: list[tuple[list[Document], list[Document]]] = []
    by_ports: dict[str, tuple[list[Document], list[Document]]] = {}
    for pod in sorted(pods, key=lambda each: str(each["metadata"]["name"])):
        ports = _ports(service, pod)
        group = by_ports.setdefault(str(ports), (ports, []))
        group[1].append(_endpoint(service, pod))
    for ports, endpoints in by_ports.values() or [([], [])]:
        starts = range(0, max(len(endpoints), 1), BIGGEST_SLICE)
        wanted += [(ports, endpoints[start : start + BIGGEST_SLICE]) for start in starts]
    actions: list[Action] = []
    for index, (ports, endpoints) in enumerate(wanted):
        if index >= len(slices):
            actions.append(Create(ENDPOINT_SLICES, _new_slice(service, ports, endpoints)))
            continue
        held = slices[index]
        if (held.get("ports") or [], held.get("endpoints") or []) != (ports, endpoints):
            made = {**held, "ports": ports or None, "endpoints": endpoints or None}
            actions.append(Update(ENDPOINT_SLICES, made))
    return [*actions, *(Delete(ENDPOINT_SLICES, each) for each in slices[len(wanted) :])]


def _ports(service: Document, pod: Document) -> list[Document]:
    found: list[Document] = []
    for port in service["spec"].get("ports") or ():
        protocol, target = port.get("protocol", "TCP"), port.get("targetPort", port["port"])
        if isinstance(target, str):
            target = next(
                (
                    each["containerPort"]
                    for container in pod["spec"]["containers"]
                    for each in container.get("ports") or ()
                    if each.get("name") == target and each.get("protocol", "TCP") == protocol
                ),
                None,
            )
        if target is not None:
            found.append({"name": port.get("name", ""), "port": target, "protocol": protocol})
    return found


def _target(pod: Document) -> Document:
    metadata = pod["metadata"]
    named = {name: metadata[name] for name in ("name", "namespace", "uid")}
    return {"kind": "Pod", **named}


def _endpoint(service: Document, pod: Document) -> Document:
    is_going = "deletionTimestamp" in pod["metadata"]
    serving = is_ready(pod)
    ready = serving and not is_going
    if service["spec"].get("publishNotReadyAddresses"):
        ready = True
    endpoint: dict[str, Any] = {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": ready, "serving": serving, "terminating": is_going},
        "nodeName": pod["spec"].get("nodeName", ""),
        "targetRef": _target(pod),
    }
    hostname = pod["spec"].get("hostname")
    if hostname and pod["spec"].get("subdomain") == service["metadata"]["name"]:
        endpoint["hostname"] = hostname
    return endpoint


def _labels(service: Document) -> dict[str, str]:
    headless = {HEADLESS: ""} if service["spec"].get("clusterIP") == "None" else {}
    return {**(service["metadata"].get("labels") or {}), **headless}


def _new_slice(
    service: Document, ports: list[Document], endpoints: list[Document]
) -> dict[str, Any]:
    metadata = service["metadata"]
    own = {SERVICE_NAME: metadata["name"], MANAGED_BY: SLICES}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": {**_labels(service), **own},
            "ownerReferences": [owner_reference(service)],
        },
        "addressType": "IPv4",
        "ports": ports or None,
        "endpoints": endpoints or None,
    }


def _endpoints_actions(
    service: Document, pods: Sequence[Document], held: Document | None
) -> list[Action]:
    """The old form: one object, ready and other addresses apart."""
    by_ports: dict[str, dict[str, Any]] = {}
    for pod in sorted(pods, key=lambda each: str(each["status"]["podIP"]))[:BIGGEST_ENDPOINTS]:
        if "deletionTimestamp" in pod["metadata"]:
            continue
        ports = _ports(service, pod)
        subset = by_ports.setdefault(str(ports), {"ports": ports})
        is_shown = is_ready(pod) or service["spec"].get("publishNotReadyAddresses")
        part = "addresses" if is_shown else "notReadyAddresses"
        address = {"ip": pod["status"]["podIP"], "targetRef": _target(pod)}
        if pod["spec"].get("nodeName"):
            address["nodeName"] = pod["spec"]["nodeName"]
        subset.setdefault(part, []).append(address)
    subsets = [
        {**subset, "ports": [_named(port) for port in subset["ports"]]}
        for subset in by_ports.values()
    ]
    metadata = service["metadata"]
    own = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    labels = {**_labels(service), **own}
    named = {"name": metadata["name"], "namespace": metadata["namespace"], "labels": labels}
    if held is None:
        made = {"apiVersion": "v1", "kind": "Endpoints", "metadata": named, "subsets": subsets}
        return [Create(ENDPOINTS, made)]
    if (held.get("subsets") or []) == subsets:
        return []
    return [Update(ENDPOINTS, {**held, "subsets": subsets})]


def _named(port: Document) -> Document:
    return {key: value for key, value in port.items() if key != "name" or value}


def _services_of(view: ClusterView, seen: SeenObject) -> Iterable[str]:
    labels = seen.metadata.labels.items()
    for service in view.seen(SERVICES, "namespace", seen.metadata.namespace):
        selector = service.document["spec"].get("selector")
        if selector and selector.items() <= labels:
            yield service.key


def _service_of(_: ClusterView, seen: SeenObject) -> Iterable[str]:
    name = seen.metadata.labels.get(SERVICE_NAME)
    return [f"{seen.metadata.namespace}/{name}"] if name else []


CONTROLLER = PlayedController(
    "endpoints",
    {SERVICES: itself, PODS: _services_of, ENDPOINT_SLICES: _service_of, ENDPOINTS: itself},
    decide,
)
