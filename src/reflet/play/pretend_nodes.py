"""Pretend nodes, and the pods on them: ``nodes`` and ``pods`` of play.

A node is pretended if it carries the annotation ``reflet.dev/play: node``: those that play makes,
and any that somebody else makes with it.  Pods of other nodes are left to their agents.

Upstream: pkg/kubelet/kubelet_node_status.go; pkg/scheduler/schedule_one.go
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address
from typing import Final

from reflet.api.resources import CONFIG_MAPS, NODES, PODS, SECRETS
from reflet.gotext.times import time_text
from reflet.play.actions import Delete, Document, Plan, Save, status_saved
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.pod_lifecycle import FINISHED, Surrounding, ended_status, next_status
from reflet.play.pod_scripts import ANNOTATION, Outcome, script_of
from reflet.play.running_play import Player
from reflet.play.scheduling import chosen_node
from reflet.store.keys import key_of

SCHEDULER: Final = "default-scheduler"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_CAPACITY: Final = {"cpu": "64", "memory": "256Gi", "pods": "10000"}
_FIRST_POD: Final = IPv4Address("10.244.0.0")
_ADDRESSES: Final = 12 * 2**16  # up to 10.255.255.255


def is_pretended(node: Document) -> bool:
    """Whether nobody but play looks after a node."""
    return bool(node["metadata"].get("annotations", {}).get(ANNOTATION) == "node")


# Nodes


def node_player(count: int) -> Player:
    """Makes so many nodes, and keeps every pretend node ready."""
    names = tuple(f"play-{number}" for number in range(count))

    def absent(name: str) -> Plan:
        about = {"hostname": name, "os": "linux", "arch": "amd64"}
        labels = {f"kubernetes.io/{key}": value for key, value in about.items()}
        metadata = {"name": name, "labels": labels, "annotations": {ANNOTATION: "node"}}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
        return Plan([Save(NODES, node)] if name in names else ())

    return Player(NODES, keep_ready, absent=absent, first=names)


def keep_ready(view: ClusterView, node: Document) -> Plan:
    """Let a pretend node be ready, and take away what says that it is not."""
    if not is_pretended(node):
        return Plan()
    before, now = node.get("status", {}), time_text(view.now())
    conditions = before.get("conditions") or ()
    if any((each["type"], each["status"]) == ("Ready", "True") for each in conditions):
        taints = node.get("spec", {}).get("taints") or ()
        kept = [taint for taint in taints if taint["key"] != _NOT_READY]
        if len(kept) == len(taints):
            return Plan()
        return Plan([Save(NODES, {**node, "spec": {**node["spec"], "taints": kept}})])
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "", **times}
    name = node["metadata"]["name"]
    number = name.rpartition("-")[2]
    last = int(number) % 250 + 2 if number.isdecimal() else 1
    addresses = [("InternalIP", f"192.168.0.{last}"), ("Hostname", name)]
    status = {
        "capacity": _CAPACITY,
        "allocatable": _CAPACITY,
        "addresses": [{"type": kind, "address": address} for kind, address in addresses],
        **before,
        "conditions": [ready],
    }
    return Plan(status_saved(NODES, node, status))


# Pods


def address_of(pod: Document) -> str:
    """An address of 10.244.0.0 and above that no other pod has: no two have the same version."""
    return str(_FIRST_POD + int(pod["metadata"]["resourceVersion"]) % _ADDRESSES)


def pod_player(outcomes: Iterable[Outcome]) -> Player:
    """Binds pods to pretend nodes, lets them run and end, and finishes their deletion."""
    told = tuple(outcomes)

    def decide(view: ClusterView, pod: Document) -> Plan:
        spec, before = pod["spec"], pod.get("status", {})
        if not spec.get("nodeName"):
            return _scheduled(view, pod)
        node = view.get(NODES, spec["nodeName"])
        if node is None or not is_pretended(node):
            return Plan()
        if "deletionTimestamp" in pod["metadata"]:
            return _ended(view, pod)
        if before.get("phase") in FINISHED:
            return Plan()
        hosts = node.get("status", {}).get("addresses") or ({"address": "192.168.0.1"},)
        host = hosts[0]["address"]
        address = before.get("podIP") or (host if spec.get("hostNetwork") else address_of(pod))
        around = Surrounding(
            now=view.now(),
            host_ip=host,
            pod_ip=address,
            scripts=lambda container: script_of(pod, container, told),
            missing=lambda container: missing_object(view, pod, container),
        )
        status, again = next_status(pod, around)
        return Plan(status_saved(PODS, pod, status), again)

    watches = {NODES: _unbound, CONFIG_MAPS: _pending, SECRETS: _pending}
    return Player(PODS, decide, watches=watches)


def _pending(view: ClusterView, seen: SeenObject) -> Iterable[str]:
    for other in view.seen(PODS, "namespace", seen.metadata.namespace):
        if other.document.get("status", {}).get("phase") == "Pending":
            yield key_of(other)


def _unbound(view: ClusterView, _: SeenObject) -> Iterable[str]:
    return [key_of(each) for each in view.seen(PODS) if not each.document["spec"].get("nodeName")]


def _scheduled(view: ClusterView, pod: Document) -> Plan:
    spec, metadata = pod["spec"], pod["metadata"]
    is_ours = spec.get("schedulerName", SCHEDULER) == SCHEDULER
    if not is_ours or spec.get("schedulingGates") or "deletionTimestamp" in metadata:
        return Plan()
    nodes = [node for node in view.all(NODES) if is_pretended(node)]
    names = [each["metadata"]["name"] for each in nodes]
    pods_on = {name: len(view.seen(PODS, "node", name)) for name in names}
    node, why = chosen_node(pod, nodes, pods_on)
    if node:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        return Plan([Save(PODS, binding, "binding")])
    status = pod.get("status", {})
    conditions = status.get("conditions") or ()
    if any(each.get("message") == why for each in conditions):
        return Plan()
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": why,
        "lastProbeTime": None,
        "lastTransitionTime": time_text(view.now()),
    }
    others = [each for each in conditions if each["type"] != "PodScheduled"]
    return Plan(status_saved(PODS, pod, {**status, "conditions": [*others, condition]}))


def _ended(view: ClusterView, pod: Document) -> Plan:
    """Stop what runs, and say so where a finalizer lets somebody see it; then let the pod go."""
    metadata, phase = pod["metadata"], pod.get("status", {}).get("phase")
    if metadata.get("finalizers") and phase not in FINISHED:
        return Plan(status_saved(PODS, pod, ended_status(pod, view.now())))
    is_going = bool(metadata.get("deletionGracePeriodSeconds"))
    return Plan([Delete(PODS, pod, grace=0)] if is_going else ())


_SOURCES: Final = (
    ("configMapRef", "configMapKeyRef", CONFIG_MAPS),
    ("secretRef", "secretKeyRef", SECRETS),
)


def missing_object(view: ClusterView, pod: Document, container: Document) -> str:
    """The kubelet's words for the first ConfigMap, Secret or key that a container lacks."""
    namespace = pod["metadata"]["namespace"]
    sources = [each.get("valueFrom") or {} for each in container.get("env") or ()]
    for source in (*(container.get("envFrom") or ()), *sources):
        for whole, part, resource in _SOURCES:
            wanted = source.get(whole) or source.get(part)
            if wanted is None or wanted.get("optional"):
                continue
            name, key = wanted.get("name", ""), wanted.get("key")
            found = view.get(resource, f"{namespace}/{name}")
            if found is None:
                return f'{resource.kind.lower()} "{name}" not found'
            if key and key not in {**found.get("data", {}), **found.get("binaryData", {})}:
                return f"couldn't find key {key} in {resource.kind} {namespace}/{name}"
    return ""
