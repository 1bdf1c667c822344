from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.cri.messages.sandboxes import DNSConfig
from reflet.node.cri.pod_dns import ClusterDns, parse_resolv_conf, pod_dns, read_node_dns
from tests.unit.node.pod_scenes import pod

NODE = DNSConfig(servers=("9.9.9.9",), searches=("corp.example",), options=("timeout:1",))
CLUSTER = ClusterDns(servers=("10.0.0.10",))
CLUSTERS = DNSConfig(
    servers=("10.0.0.10",),
    searches=("shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"),
    options=("ndots:5",),
)


def test_a_file_is_read_as_the_resolver_reads_it() -> None:
    text = (
        "# ours\nnameserver 1.1.1.1\nnameserver 2.2.2.2\nsearch old\nsearch a.b. .\noptions x y:1"
    )

    assert parse_resolv_conf(text) == DNSConfig(
        servers=("1.1.1.1", "2.2.2.2"), searches=("a.b", "."), options=("x", "y:1")
    )


def test_the_first_file_that_is_there_is_read(tmp_path: Path) -> None:
    (tmp_path / "resolv.conf").write_text("nameserver 1.1.1.1\n")

    found = read_node_dns((tmp_path / "missing", tmp_path / "resolv.conf"))

    assert found.servers == ("1.1.1.1",)
    assert read_node_dns((tmp_path / "missing",)) == DNSConfig()


@pytest.mark.parametrize(
    ("spec", "cluster", "found"),
    [
        ({}, CLUSTER, CLUSTERS),
        ({"dnsPolicy": "ClusterFirst"}, CLUSTER, CLUSTERS),
        ({"dnsPolicy": "ClusterFirst"}, ClusterDns(), NODE),
        ({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, CLUSTER, NODE),
        ({"dnsPolicy": "ClusterFirstWithHostNet", "hostNetwork": True}, CLUSTER, CLUSTERS),
        ({"dnsPolicy": "Default"}, CLUSTER, NODE),
        ({"dnsPolicy": "None"}, CLUSTER, DNSConfig()),
    ],
)
def test_the_policy_chooses(spec: dict[str, Any], cluster: ClusterDns, found: DNSConfig) -> None:
    assert pod_dns(pod(**spec), NODE, cluster) == found


def test_what_the_pod_says_is_added_and_its_options_win() -> None:
    config = {
        "nameservers": ["1.1.1.1", "10.0.0.10"],
        "searches": ["mine"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
    }

    found = pod_dns(pod(dnsConfig=config), NODE, CLUSTER)

    assert found.servers == ("10.0.0.10", "1.1.1.1")
    assert found.searches[-1] == "mine"
    assert found.options == ("ndots:2", "edns0")


def test_more_servers_than_a_resolver_asks_are_left_out() -> None:
    many = DNSConfig(servers=tuple(f"1.1.1.{number}" for number in range(5)))

    assert len(pod_dns(pod(dnsPolicy="Default"), many, CLUSTER).servers) == 3
