"""Pretend nodes, and the pods on them: ``nodes`` and ``pods`` of play.

A node is pretended if it carries the annotation ``reflet.dev/play: node``: those that play makes,
and any that somebody else makes with it.  Pods of other nodes are left to their agents.

Upstream: pkg/kubelet/kubelet_node_status.go; pkg/scheduler/schedule_one.go
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from reflet.api.resources import CONFIG_MAPS, NODES, PODS, SECRETS
from reflet.gotext.times import time_text
from reflet.play.actions import Action, Create, Delete, Document, NextActions, Update, status_update
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, itself
from reflet.play.pod_lifecycle import FINISHED, Surrounding, ended_status, next_status
from reflet.play.pod_scripts import ANNOTATION, Outcome, script_of
from reflet.play.scheduling import chosen_node

NODE_MARK: Final = {ANNOTATION: "node"}
SCHEDULER: Final = "default-scheduler"
_NOT_READY: Final = "node.kubernetes.io/not-ready"
_CAPACITY: Final = {"cpu": "64", "ephemeral-storage": "1Ti", "memory": "256Gi", "pods": "10000"}
_CONDITIONS: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)
_FIRST_POD: Final = 10 * 2**24 + 244 * 2**16  # 10.244.0.0


def is_pretended(node: Document) -> bool:
    """Whether nobody but play looks after a node."""
    return bool(node["metadata"].get("annotations", {}).get(ANNOTATION) == "node")


# Nodes


def node_controller(count: int) -> PlayedController:
    """Makes so many nodes, and keeps every pretend node ready."""

    names = [f"play-{number}" for number in range(count)]

    async def decide(view: ClusterView, key: str) -> NextActions:
        node = view.get(NODES, key)
        if node is None:
            return NextActions([Create(NODES, _new_node(key))] if key in names else ())
        return NextActions(node_actions(node, time_text(view.now())))

    return PlayedController("nodes", {NODES: itself}, decide, first=names)


def _new_node(name: str) -> Document:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": NODE_MARK},
    }


def node_actions(node: Document, now: str) -> list[Action]:
    """Let a pretend node be ready, and take away what says that it is not."""
    if not is_pretended(node):
        return []
    before = node.get("status", {})
    if not any(
        each["type"] == "Ready" and each["status"] == "True"
        for each in before.get("conditions") or ()
    ):
        times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
        status: dict[str, Any] = {
            **before,
            "capacity": before.get("capacity") or _CAPACITY,
            "allocatable": before.get("allocatable") or _CAPACITY,
            "addresses": before.get("addresses") or _addresses(node["metadata"]["name"]),
            "conditions": [
                {"type": kind, "status": value, "reason": reason, "message": "", **times}
                for kind, value, reason in _CONDITIONS
            ],
        }
        return status_update(NODES, node, status)
    taints = node.get("spec", {}).get("taints") or ()
    kept = [taint for taint in taints if taint["key"] != _NOT_READY]
    if len(kept) == len(taints):
        return []
    return [Update(NODES, {**node, "spec": {**node["spec"], "taints": kept}})]


def _addresses(name: str) -> list[Document]:
    number = name.rpartition("-")[2]
    last = int(number) % 250 + 2 if number.isdecimal() else 1
    return [
        {"type": "InternalIP", "address": f"192.168.0.{last}"},
        {"type": "Hostname", "address": name},
    ]


# Pods


class PodAddresses:
    """Gives each pod an address that no other has had."""

    def __init__(self) -> None:
        self._next: Iterator[int] | None = None

    def new(self, view: ClusterView) -> str:
        """An address above all that pods have already."""
        if self._next is None:
            taken = (_number(pod.get("status", {}).get("podIP", "")) for pod in view.all(PODS))
            self._next = itertools.count(max(taken, default=_FIRST_POD) + 1)
        number = next(self._next)
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _number(address: str) -> int:
    parts = address.split(".")
    if len(parts) != 4 or parts[0] != "10":
        return _FIRST_POD
    return sum(int(part) << shift for part, shift in zip(parts, (24, 16, 8, 0), strict=True))


def pod_controller(outcomes: Iterable[Outcome]) -> PlayedController:
    """Binds pods to pretend nodes, lets them run and end, and finishes their deletion."""
    addresses, told = PodAddresses(), tuple(outcomes)

    async def decide(view: ClusterView, key: str) -> NextActions:
        pod = view.get(PODS, key)
        if pod is None:
            return NextActions()
        node_name = pod["spec"].get("nodeName")
        if not node_name:
            return NextActions(_scheduled(view, pod))
        node = view.get(NODES, node_name)
        if node is None or not is_pretended(node):
            return NextActions()
        if "deletionTimestamp" in pod["metadata"]:
            return NextActions(_ended(view, pod))
        if pod.get("status", {}).get("phase") in FINISHED:
            return NextActions()
        host = next(
            (each["address"] for each in node.get("status", {}).get("addresses") or ()),
            "192.168.0.1",
        )
        is_on_host = pod["spec"].get("hostNetwork")
        address = pod.get("status", {}).get("podIP") or (
            host if is_on_host else addresses.new(view)
        )
        status, again = next_status(
            pod,
            Surrounding(
                now=view.now(),
                host_ip=host,
                pod_ip=address,
                scripts=lambda container: script_of(pod, container, told),
                missing=lambda container: missing_object(view, pod, container),
            ),
        )
        return NextActions(status_update(PODS, pod, status), again)

    def users(view: ClusterView, seen: SeenObject) -> Iterable[str]:
        for other in view.seen(PODS, "namespace", seen.metadata.namespace):
            if other.document.get("status", {}).get("phase") == "Pending":
                yield other.key

    def unbound(view: ClusterView, _: SeenObject) -> Iterable[str]:
        return [
            other.key for other in view.seen(PODS) if not other.document["spec"].get("nodeName")
        ]

    watches = {PODS: itself, NODES: unbound, CONFIG_MAPS: users, SECRETS: users}
    return PlayedController("pods", watches, decide)


def _scheduled(view: ClusterView, pod: Document) -> list[Action]:
    spec, metadata = pod["spec"], pod["metadata"]
    if (
        spec.get("schedulingGates")
        or spec.get("schedulerName", SCHEDULER) != SCHEDULER
        or "deletionTimestamp" in metadata
    ):
        return []
    nodes = [node for node in view.all(NODES) if is_pretended(node)]
    node, why = chosen_node(pod, nodes, view.pods_on)
    if node:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        return [Create(PODS, binding, metadata["name"], "binding")]
    status = pod.get("status", {})
    others = [each for each in status.get("conditions") or () if each["type"] != "PodScheduled"]
    held = [each for each in status.get("conditions") or () if each["type"] == "PodScheduled"]
    if held and held[0].get("message") == why:
        return []
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": why,
        "observedGeneration": metadata.get("generation", 1),
        "lastProbeTime": None,
        "lastTransitionTime": time_text(view.now()),
    }
    return status_update(PODS, pod, {**status, "conditions": [*others, condition]})


def _ended(view: ClusterView, pod: Document) -> list[Action]:
    """Stop what runs, and say so where a finalizer lets somebody see it; then let the pod go."""
    actions: list[Action] = []
    is_held = bool(pod["metadata"].get("finalizers"))
    if is_held and pod.get("status", {}).get("phase") not in FINISHED:
        return status_update(PODS, pod, ended_status(pod, view.now()))
    if pod["metadata"].get("deletionGracePeriodSeconds"):
        actions.append(Delete(PODS, pod, grace=0))
    return actions


def missing_object(view: ClusterView, pod: Document, container: Document) -> str:
    """The kubelet's words for the first ConfigMap, Secret or key that a container lacks."""
    namespace = pod["metadata"]["namespace"]
    wanted = [
        (each[name].get("name", ""), "", name.startswith("secret"), each[name].get("optional"))
        for each in container.get("envFrom") or ()
        for name in ("configMapRef", "secretRef")
        if name in each
    ]
    wanted += [
        (
            source[name].get("name", ""),
            source[name]["key"],
            name[0] == "s",
            source[name].get("optional"),
        )
        for each in container.get("env") or ()
        if (source := each.get("valueFrom") or {})
        for name in ("configMapKeyRef", "secretKeyRef")
        if name in source
    ]
    for name, key, is_secret, is_optional in wanted:
        if is_optional:
            continue
        found = view.get(SECRETS if is_secret else CONFIG_MAPS, f"{namespace}/{name}")
        if found is None:
            return f'{"secret" if is_secret else "configmap"} "{name}" not found'
        if key and key not in {**found.get("data", {}), **found.get("binaryData", {})}:
            what = "Secret" if is_secret else "ConfigMap"
            return f"couldn't find key {key} in {what} {namespace}/{name}"
    return ""
