"""The Node that stands for this agent, and its status: conditions, addresses, capacity.

Pure: facts of the machine in, documents out.  Of a Node that is there already only the status is
ours; its taints and labels are whoever changed them.

Upstream: pkg/kubelet/nodestatus/setters.go; pkg/kubelet/kubelet_node_status.go, initialNode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reflet._version import __version__
from reflet.api.core.nodes import Node
from reflet.api.meta import Condition
from reflet.node.descriptor_budget import MOST_PODS
from reflet.node.identity.machine import Machine, Pressure

TAINT: Final = "reflet.dev/process-runtime"
RUNTIME_LABEL: Final = "reflet.dev/runtime"

ENOUGH_MEMORY: Final = 100 * 2**20  # bytes; the kubelet's memory.available<100Mi
ENOUGH_DISK: Final = 0.10  # of the disk; the kubelet's nodefs.available<10%
ENOUGH_PROCESSES: Final = 0.05

DECLARED_FEATURES: Final = ("ExtendWebSocketsToKubelet",)
"""Of the agent's own streams: those of a container runtime may not take WebSockets.

API servers of 1.36 and later then pass WebSockets through.  Those that are not told, or are
older, turn them into SPDY/3.1, and do not tell when whoever started a command has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What the Node says; *runtime* is its containerRuntimeVersion."""

    name: str
    machine: Machine
    addresses: tuple[str, ...]
    port: int = 0
    runs_commands: bool = False
    runtime: str = f"reflet-processes://{__version__}"
    most_pods: int = MOST_PODS
    has_images: bool = False


def new_node(facts: NodeFacts) -> dict[str, Any]:
    """The Node to create; a taint keeps away pods that do not ask for processes.

    A node that runs images can take any pod.
    """
    machine = facts.machine
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": facts.name,
            "labels": {
                "kubernetes.io/hostname": facts.name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": machine.architecture,
                RUNTIME_LABEL: "containers" if facts.has_images else "processes",
            },
        },
        "spec": {} if facts.has_images else {"taints": [{"key": TAINT, "effect": "NoSchedule"}]},
    }


def node_status(
    facts: NodeFacts,
    pressure: Pressure,
    *,
    not_ready: str | None,
    before: Node | None,
    now: datetime,
) -> dict[str, Any]:
    """The status to report; *not_ready* is why pods are not served well, None when they are."""
    machine = facts.machine
    amounts = {
        "cpu": str(machine.cpus),
        "memory": f"{machine.memory // 1024}Ki",
        "ephemeral-storage": f"{pressure.disk_size // 1024}Ki",
        "pods": str(facts.most_pods),
    }
    return {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [
            _document(each) for each in _conditions(pressure, not_ready, before=before, now=now)
        ],
        "addresses": [
            *({"type": "InternalIP", "address": each} for each in facts.addresses),
            {"type": "Hostname", "address": facts.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": facts.port}},
        "declaredFeatures": [] if facts.has_images else list(DECLARED_FEATURES),
        "nodeInfo": {
            "machineID": machine.machine_id,
            "systemUUID": machine.machine_id,
            "bootID": machine.boot_id,
            "kernelVersion": machine.kernel,
            "osImage": machine.system,
            "containerRuntimeVersion": facts.runtime,
            "kubeletVersion": f"reflet-{__version__}",
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": machine.architecture,
        },
    }


def is_worth_telling(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> bool:
    """Whether a status says more than that the node is still alive, which the lease says."""
    return before is None or _without_times(before) != _without_times(now)


def _conditions(
    pressure: Pressure, not_ready: str | None, *, before: Node | None, now: datetime
) -> Sequence[Condition]:
    known = {each.type: each for each in before.status.conditions} if before else {}
    wanted = (
        _pressure("Memory", pressure.memory_free < ENOUGH_MEMORY, "sufficient memory available"),
        _pressure("Disk", pressure.disk_free < ENOUGH_DISK, "no disk pressure"),
        _pressure("PID", pressure.processes_free < ENOUGH_PROCESSES, "sufficient PID available"),
        Condition(type="Ready", status="True", reason="KubeletReady", message="reflet is ready")
        if not_ready is None
        else Condition(type="Ready", status="False", reason="KubeletNotReady", message=not_ready),
    )
    moment = now.replace(microsecond=0)
    return [
        Condition(
            type=each.type,
            status=each.status,
            reason=each.reason,
            message=each.message,
            last_heartbeat_time=moment,
            last_transition_time=_since(known.get(each.type), each, moment),
        )
        for each in wanted
    ]


def _since(before: Condition | None, wanted: Condition, now: datetime) -> datetime:
    if before is None or before.status != wanted.status or before.last_transition_time is None:
        return now
    return before.last_transition_time


def _pressure(what: str, is_short: bool, relief: str) -> Condition:
    if is_short:
        return Condition(
            type=f"{what}Pressure",
            status="True",
            reason=f"KubeletHasInsufficient{what}" if what != "Disk" else "KubeletHasDiskPressure",
            message=f"this machine is short of {what.lower()}",
        )
    return Condition(
        type=f"{what}Pressure",
        status="False",
        reason=f"KubeletHasSufficient{what}" if what != "Disk" else "KubeletHasNoDiskPressure",
        message=f"kubelet has {relief}",
    )


def _document(condition: Condition) -> dict[str, Any]:
    def text(moment: datetime | None) -> str | None:
        return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastHeartbeatTime": text(condition.last_heartbeat_time),
        "lastTransitionTime": text(condition.last_transition_time),
    }


def _without_times(status: Mapping[str, Any]) -> dict[str, Any]:
    conditions = [
        {name: value for name, value in each.items() if not name.endswith("Time")}
        for each in status.get("conditions", ())
    ]
    return {**status, "conditions": conditions}
