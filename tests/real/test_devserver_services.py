"""A service whose type changes keeps, gets and loses what it does on the real server."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.real.devserver_side import DevServerSide, comparable
from tests.real.kube_server import KubeServer

Document = dict[str, Any]

PORTS: Final = [{"name": "http", "port": 80}, {"name": "https", "port": 443}]
BEGINNINGS: Final[dict[str, Document]] = {
    "cluster address": {"type": "ClusterIP", "ports": PORTS},
    "headless": {"clusterIP": "None", "ports": PORTS, "selector": {"app": "web"}},
    "node ports": {"type": "NodePort", "ports": PORTS},
    "load balancer": {"type": "LoadBalancer", "ports": PORTS},
    "local load balancer": {
        "type": "LoadBalancer",
        "ports": PORTS,
        "externalTrafficPolicy": "Local",
    },
    "balancer without ports": {
        "type": "LoadBalancer",
        "ports": PORTS,
        "allocateLoadBalancerNodePorts": False,
        "loadBalancerClass": "example.com/mine",
    },
    "name": {"type": "ExternalName", "externalName": "example.com"},
    "name and address": {
        "type": "ExternalName",
        "externalName": "example.com",
        "clusterIP": "None",
    },
}
CHANGES: Final[dict[str, Document]] = {
    **{name: spec for name, spec in BEGINNINGS.items() if name != "name and address"},
    "type cluster address": {"type": "ClusterIP"},
    "type node ports": {"type": "NodePort"},
    "type load balancer": {"type": "LoadBalancer"},
    "type name": {"type": "ExternalName", "externalName": "example.com"},
    "policy": {"externalTrafficPolicy": "Cluster"},
    "other ports": {"ports": [{"name": "https", "port": 8443}, {"name": "new", "port": 9}]},
    "addresses gone": {"clusterIP": "", "clusterIPs": []},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("whole", [True, False], ids=["replaced", "changed"])
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_change_of_type_gives_what_the_real_server_gives(
    kube: KubeServer, namespace: str, beginning: str, change: str, whole: bool
) -> None:
    path = f"/api/v1/namespaces/{namespace}/services"
    body = {"metadata": {"name": "x"}, "spec": BEGINNINGS[beginning]}
    created = kube.request("POST", path, body)
    ours = DevServerSide().create(path, body)
    assert seen(ours) == seen(created)
    if created.code != 201:
        return
    old = created.body
    spec = CHANGES[change] if whole else {**old["spec"], **CHANGES[change]}
    wanted = {"metadata": {"name": "x"}, "spec": spec}

    real = kube.request("PUT", f"{path}/x", wanted)
    ours = DevServerSide().update(path, old, wanted)

    assert seen(ours) == seen(real)


def seen(outcome: Any) -> Any:
    """The code and what a client sees, without the numbers that each server chooses."""
    body = comparable(outcome.body)
    spec = body.get("spec")
    if outcome.code >= 400 or spec is None:
        return outcome.code, body.get("message")
    if "healthCheckNodePort" in spec:
        spec["healthCheckNodePort"] = "chosen"
    return outcome.code, spec, body.get("status")
