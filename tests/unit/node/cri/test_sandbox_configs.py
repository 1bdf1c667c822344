from __future__ import annotations

from pathlib import Path

from reflet.api.core.pods import Pod
from reflet.cri.messages.sandboxes import DNSConfig, PodSandboxConfig, PortMapping, Protocol
from reflet.node.cri.sandbox_configs import sandbox_config
from tests.unit.node.pod_scenes import container, pod

DNS = DNSConfig(servers=("10.0.0.10",))


def config(of: Pod) -> PodSandboxConfig:
    return sandbox_config(
        of, node="worker-1", attempt=2, dns=DNS, domain="cluster.local", logs=Path("/logs")
    )


def test_a_sandbox_is_made_of_what_its_pod_says() -> None:
    made = config(
        pod(
            container(ports=[{"containerPort": 80, "hostPort": 8080, "protocol": "UDP"}]),
            metadata={"annotations": {"note": "x"}},
            securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]},
        )
    )

    assert made.metadata is not None
    assert (made.metadata.name, made.metadata.uid, made.metadata.attempt) == ("web", "u1", 2)
    assert made.hostname == "web"
    assert made.log_directory == "/logs/shop_web_u1"
    assert made.dns_config == DNS
    assert made.port_mappings == (
        PortMapping(protocol=Protocol.UDP, container_port=80, host_port=8080),
    )
    assert made.annotations == {"note": "x"}
    assert made.linux is not None
    assert made.linux.cgroup_parent == "/reflet/podu1"
    assert made.linux.sysctls == {"net.ipv4.tcp_syncookies": "1"}


def test_on_the_nodes_network_a_pod_has_neither_name_nor_ports_of_its_own() -> None:
    made = config(pod(container(ports=[{"containerPort": 80}]), hostNetwork=True))

    assert (made.hostname, made.port_mappings) == ("", ())
