"""From a pod to what a runtime needs for its sandbox.  Pure.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_sandbox.go, generatePodSandboxConfig
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from reflet.api.core.pods import Pod
from reflet.cri.messages.sandboxes import (
    DNSConfig,
    LinuxPodSandboxConfig,
    PodSandboxConfig,
    PodSandboxMetadata,
    PortMapping,
    Protocol,
)
from reflet.node.cri.etc_hosts import kernel_name
from reflet.node.cri.pod_rights import sandbox_rights
from reflet.node.cri.runtime_labels import sandbox_labels

CGROUP_PARENT: Final = "/reflet"


def log_directory(logs: Path, pod: Pod) -> Path:
    """Where the logs of a pod are, under the name that collectors of logs take apart."""
    metadata = pod.metadata
    return logs / f"{metadata.namespace}_{metadata.name}_{metadata.uid}"


def sandbox_config(
    pod: Pod, *, node: str, attempt: int, dns: DNSConfig, domain: str, logs: Path
) -> PodSandboxConfig:
    """What a pod's sandbox is made of."""
    metadata, spec = pod.metadata, pod.spec
    context = spec.security_context
    sysctls = {} if context is None else {each.name: each.value for each in context.sysctls}
    return PodSandboxConfig(
        metadata=PodSandboxMetadata(
            name=metadata.name, uid=metadata.uid, namespace=metadata.namespace, attempt=attempt
        ),
        hostname="" if spec.host_network else kernel_name(pod, domain),
        log_directory=str(log_directory(logs, pod)),
        dns_config=dns,
        port_mappings=_port_mappings(pod),
        labels=sandbox_labels(pod, node),
        annotations=dict(metadata.annotations),
        linux=LinuxPodSandboxConfig(
            cgroup_parent=f"{CGROUP_PARENT}/pod{metadata.uid}",
            security_context=sandbox_rights(pod),
            sysctls=sysctls,
        ),
    )


def _port_mappings(pod: Pod) -> tuple[PortMapping, ...]:
    if pod.spec.host_network:
        return ()
    return tuple(
        PortMapping(
            protocol=Protocol[port.protocol or "TCP"],
            container_port=port.container_port,
            host_port=port.host_port,
            host_ip=port.host_ip,
        )
        for container in pod.spec.containers
        for port in container.ports
    )
