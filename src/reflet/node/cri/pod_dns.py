"""What a pod's ``resolv.conf`` says, by its dnsPolicy and dnsConfig and the node's own.

Upstream: pkg/kubelet/network/dns/dns.go, GetPodDNS
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.api.core.pods import Pod, PodDNSConfigOption
from reflet.cri.messages.sandboxes import DNSConfig

CLUSTER_OPTIONS: Final = ("ndots:5",)
MOST_SERVERS: Final = 3
MOST_SEARCHES: Final = 32
CANDIDATES: Final = (Path("/run/systemd/resolve/resolv.conf"), Path("/etc/resolv.conf"))
"""Behind systemd-resolved, the second names a server that only this machine can ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDns:
    """The servers of the cluster's names, none when nobody said; and where its names end."""

    servers: tuple[str, ...] = ()
    domain: str = "cluster.local"


def read_node_dns(candidates: Iterable[Path] = CANDIDATES) -> DNSConfig:
    """Read what this machine resolves names with; nothing where it has no such file."""
    for path in candidates:
        try:
            return parse_resolv_conf(path.read_text(errors="replace"))
        except OSError:
            continue
    return DNSConfig()


def parse_resolv_conf(text: str) -> DNSConfig:
    """Read a ``resolv.conf``; of search and options the last line counts, as for the resolver."""
    servers: list[str] = []
    searches: list[str] = []
    options: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith(("#", ";")):
            continue
        match words:
            case ["nameserver", server, *_]:
                servers.append(server)
            case ["search", *named]:
                searches = [each if each == "." else each.removesuffix(".") for each in named]
            case ["options", *named]:
                options = named
            case _:
                pass
    return DNSConfig(servers=tuple(servers), searches=tuple(searches), options=tuple(options))


def pod_dns(pod: Pod, node: DNSConfig, cluster: ClusterDns) -> DNSConfig:
    """What a pod resolves names with."""
    spec = pod.spec
    policy = spec.dns_policy or "ClusterFirst"
    is_clusters = policy == "ClusterFirstWithHostNet" or (
        policy == "ClusterFirst" and not spec.host_network
    )
    if policy == "None":
        chosen = DNSConfig()
    elif is_clusters and cluster.servers:
        namespace, domain = pod.metadata.namespace, cluster.domain
        own = (f"{namespace}.svc.{domain}", f"svc.{domain}", domain) if domain else ()
        chosen = DNSConfig(
            servers=cluster.servers,
            searches=(*own, *node.searches),
            options=CLUSTER_OPTIONS,
        )
    else:
        chosen = node
    config = spec.dns_config
    if config is not None:
        chosen = DNSConfig(
            servers=_once((*chosen.servers, *config.nameservers)),
            searches=_once((*chosen.searches, *config.searches)),
            options=_merged(chosen.options, config.options),
        )
    return DNSConfig(
        servers=_once(chosen.servers)[:MOST_SERVERS],
        searches=_once(chosen.searches)[:MOST_SEARCHES],
        options=chosen.options,
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _merged(existing: Iterable[str], more: Iterable[PodDNSConfigOption]) -> tuple[str, ...]:
    """Options by name, those of the pod in place of others."""
    options = {name: value for name, _, value in (each.partition(":") for each in existing)}
    options |= {each.name: each.value or "" for each in more}
    return tuple(f"{name}:{value}" if value else name for name, value in options.items())
