"""A pod's name, and its hosts file.

Upstream: pkg/kubelet/kubelet_pods.go, GeneratePodHostNameAndDomain, managedHostsFileContent and
nodeHostsFileContent
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reflet.api.core.pods import HostAlias, Pod

LONGEST_NAME: Final = 63
LONGEST_FULL_NAME: Final = 64  # what a kernel takes as its name
MANAGED: Final = "# Kubernetes-managed hosts file.\n"
MANAGED_OF_HOST: Final = "# Kubernetes-managed hosts file (host network).\n"
LOCAL: Final = (
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n"
)


def host_name(pod: Pod, domain: str) -> tuple[str, str]:
    """The name of a pod's machine, and the domain that it is in, if any."""
    spec = pod.spec
    if spec.hostname_override is not None:
        return _cut(spec.hostname_override), ""
    name = _cut(spec.hostname or pod.metadata.name)
    if not spec.subdomain:
        return name, ""
    return name, f"{spec.subdomain}.{pod.metadata.namespace}.svc.{domain}"


def kernel_name(pod: Pod, domain: str) -> str:
    """What ``hostname`` prints in a pod: with its domain if the pod wants that, and it fits."""
    name, behind = host_name(pod, domain)
    full = f"{name}.{behind}"
    if pod.spec.set_hostname_as_fqdn and behind and len(full) <= LONGEST_FULL_NAME:
        return full
    return name


def managed_hosts(pod: Pod, addresses: Sequence[str], domain: str) -> str:
    """The hosts file of a pod with a network of its own."""
    name, behind = host_name(pod, domain)
    names = f"{name}.{behind}\t{name}" if behind else name
    lines = "".join(f"{address}\t{names}\n" for address in addresses)
    return MANAGED + LOCAL + lines + _aliases(pod.spec.host_aliases)


def hosts_of_node(pod: Pod, node: str) -> str:
    """The hosts file of a pod on the node's network, where *node* is the node's own."""
    return MANAGED_OF_HOST + node + _aliases(pod.spec.host_aliases)


def _aliases(aliases: Sequence[HostAlias]) -> str:
    if not aliases:
        return ""
    lines = ("\t".join((each.ip, *each.hostnames)) + "\n" for each in aliases)
    return "\n# Entries added by HostAliases.\n" + "".join(lines)


def _cut(name: str) -> str:
    return name[:LONGEST_NAME].rstrip("-.") if len(name) > LONGEST_NAME else name
