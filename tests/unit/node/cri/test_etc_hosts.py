from __future__ import annotations

from typing import Any

import pytest

from reflet.node.cri.etc_hosts import (
    LOCAL,
    MANAGED,
    MANAGED_OF_HOST,
    host_name,
    hosts_of_node,
    kernel_name,
    managed_hosts,
)
from tests.unit.node.pod_scenes import pod

DOMAIN = "cluster.local"
LONG = "a" * 62 + "-b"


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({}, ("web", "")),
        ({"hostname": "db"}, ("db", "")),
        ({"hostname": "db", "subdomain": "sets"}, ("db", "sets.shop.svc.cluster.local")),
        ({"hostnameOverride": "other.example", "subdomain": "sets"}, ("other.example", "")),
        ({"hostname": LONG}, ("a" * 62, "")),
    ],
)
def test_a_pod_is_named_as_the_kubelet_names_it(
    spec: dict[str, Any], named: tuple[str, str]
) -> None:
    assert host_name(pod(**spec), DOMAIN) == named


def test_the_whole_name_is_shown_when_it_is_wanted_and_fits() -> None:
    wanted = {"subdomain": "sets", "setHostnameAsFQDN": True}

    assert kernel_name(pod(**wanted), DOMAIN) == "web.sets.shop.svc.cluster.local"
    assert kernel_name(pod(subdomain="sets"), DOMAIN) == "web"
    assert kernel_name(pod(**wanted, hostname="x" * 60), DOMAIN) == "x" * 60


def test_a_hosts_file_has_the_pods_addresses_and_aliases() -> None:
    of = pod(subdomain="sets", hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a", "b"]}])

    text = managed_hosts(of, ("10.1.0.2", "fd00::2"), DOMAIN)

    assert text == (
        f"{MANAGED}{LOCAL}"
        "10.1.0.2\tweb.sets.shop.svc.cluster.local\tweb\n"
        "fd00::2\tweb.sets.shop.svc.cluster.local\tweb\n"
        "\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n"
    )


def test_on_the_nodes_network_the_nodes_file_is_shown() -> None:
    assert hosts_of_node(pod(), "1.1.1.1 me\n") == f"{MANAGED_OF_HOST}1.1.1.1 me\n"
