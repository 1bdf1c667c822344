"""``endpoints`` of play: where the pods behind a Service are, as EndpointSlices and as Endpoints.

IPv4 only; topology hints are not given.

Upstream: k8s.io/endpointslice/reconciler.go; pkg/controller/endpoint/endpoints_controller.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from reflet.api.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES
from reflet.play.actions import Action, Delete, Document, Plan, Save
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.owned_pods import is_going, is_ready, owner_of, phase_of
from reflet.play.pod_lifecycle import FINISHED
from reflet.play.running_play import Player
from reflet.store.keys import key_of

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
SLICES: Final = "endpointslice-controller.k8s.io"
BIGGEST_SLICE: Final = 100  # endpoints
BIGGEST_ENDPOINTS: Final = 1000

Group = tuple[list[Document], list[Document]]  # ports, and the pods that have them


def follow_service(view: ClusterView, service: Document) -> Plan:
    """Make the slices and the Endpoints of a Service what they should be."""
    selector, metadata = service["spec"].get("selector"), service["metadata"]
    if not selector or service["spec"].get("type") == "ExternalName" or is_going(service):
        return Plan()
    groups: dict[str, Group] = {}
    for pod in sorted(view.all(PODS, metadata["namespace"]), key=_name):
        labels = (pod["metadata"].get("labels") or {}).items()
        has_address = pod.get("status", {}).get("podIP") and phase_of(pod) not in FINISHED
        if has_address and selector.items() <= labels:
            ports = _ports(service, pod)
            groups.setdefault(str(ports), (ports, []))[1].append(pod)
    slices = [
        each
        for each in view.all(ENDPOINT_SLICES, metadata["namespace"])
        if each["metadata"].get("labels", {}).get(SERVICE_NAME) == metadata["name"]
        and each["metadata"]["labels"].get(MANAGED_BY) == SLICES
    ]
    held = view.get(ENDPOINTS, f"{metadata['namespace']}/{metadata['name']}")
    found = list(groups.values())
    return Plan([*slice_actions(service, found, slices), *_endpoints(service, found, held)])


def _name(document: Document) -> str:
    return str(document["metadata"]["name"])


def _ports(service: Document, pod: Document) -> list[Document]:
    found: list[Document] = []
    for port in service["spec"].get("ports") or ():
        protocol, target = port.get("protocol", "TCP"), port.get("targetPort", port["port"])
        named = {
            each.get("name"): each["containerPort"]
            for container in pod["spec"]["containers"]
            for each in container.get("ports") or ()
            if each.get("protocol", "TCP") == protocol
        }
        number = named.get(target) if isinstance(target, str) else target
        if number is not None:
            found.append({"name": port.get("name", ""), "port": number, "protocol": protocol})
    return found


def _target(pod: Document) -> Document:
    return {"kind": "Pod", **{name: pod["metadata"][name] for name in ("name", "namespace", "uid")}}


def slice_actions(
    service: Document, groups: Sequence[Group], slices: Sequence[Document]
) -> list[Action]:
    """Make the slices what they should be: a hundred endpoints in each, by ports."""
    metadata, actions = service["metadata"], list[Action]()
    wanted = [
        {"ports": ports or None, "endpoints": [_endpoint(service, pod) for pod in some] or None}
        for ports, pods in groups or [([], [])]
        for start in range(0, max(len(pods), 1), BIGGEST_SLICE)
        for some in [pods[start : start + BIGGEST_SLICE]]
    ]
    own = {SERVICE_NAME: metadata["name"], MANAGED_BY: SLICES}
    made = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": {**(metadata.get("labels") or {}), **own},
            "ownerReferences": owner_of(service),
        },
        "addressType": "IPv4",
    }
    for index, parts in enumerate(wanted):
        held = slices[index] if index < len(slices) else None
        if held is None or any((held.get(name) or None) != parts[name] for name in parts):
            actions.append(Save(ENDPOINT_SLICES, {**(held or made), **parts}))
    return [*actions, *(Delete(ENDPOINT_SLICES, each) for each in slices[len(wanted) :])]


def _endpoint(service: Document, pod: Document) -> Document:
    serving, is_shown = is_ready(pod), bool(service["spec"].get("publishNotReadyAddresses"))
    conditions = {
        "ready": is_shown or (serving and not is_going(pod)),
        "serving": serving,
        "terminating": is_going(pod),
    }
    endpoint = {"addresses": [pod["status"]["podIP"]], "conditions": conditions}
    endpoint |= {"nodeName": pod["spec"].get("nodeName", ""), "targetRef": _target(pod)}
    if pod["spec"].get("hostname") and pod["spec"].get("subdomain") == _name(service):
        endpoint["hostname"] = pod["spec"]["hostname"]
    return endpoint


def _endpoints(service: Document, groups: Sequence[Group], held: Document | None) -> list[Action]:
    """The old form: one object, ready and other addresses apart."""
    subsets: list[Document] = []
    for ports, pods in groups:
        subset: dict[str, Any] = {}
        for pod in pods[:BIGGEST_ENDPOINTS]:
            is_shown = is_ready(pod) or service["spec"].get("publishNotReadyAddresses")
            node = {"nodeName": pod["spec"].get("nodeName", "")}
            address = {"ip": pod["status"]["podIP"], "targetRef": _target(pod), **node}
            if not is_going(pod):
                part = "addresses" if is_shown else "notReadyAddresses"
                subset.setdefault(part, []).append(address)
        if subset:
            named = [{key: each[key] for key in each if each[key]} for each in ports]
            subsets.append({**subset, "ports": named})
    if held is not None and (held.get("subsets") or []) == subsets:
        return []
    metadata = {name: service["metadata"][name] for name in ("name", "namespace")}
    metadata["labels"] = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    made = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata}
    return [Save(ENDPOINTS, {**(held or made), "subsets": subsets})]


def _services_of(view: ClusterView, pod: SeenObject) -> Iterable[str]:
    for service in view.seen(SERVICES, "namespace", pod.metadata.namespace):
        selector = service.document["spec"].get("selector")
        if selector and selector.items() <= pod.metadata.labels.items():
            yield key_of(service)


def _service_of(_: ClusterView, seen: SeenObject) -> Iterable[str]:
    name = seen.metadata.labels.get(SERVICE_NAME, seen.metadata.name)
    return (f"{seen.metadata.namespace}/{name}",)


PLAYER = Player(
    SERVICES,
    follow_service,
    watches={PODS: _services_of, ENDPOINT_SLICES: _service_of, ENDPOINTS: _service_of},
)
