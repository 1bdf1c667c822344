"""Which pods are taken for a port of a Service, and which Services cannot be forwarded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.supervisor.service_backends import Backend, backends_of, other_ports, why_not

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


def service(*ports: Mapping[str, Any], **spec: Any) -> Service:
    made = codec.decode_object(
        codec.encode(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "db", "namespace": "shop"},
                "spec": {"selector": {"app": "db"}, "ports": list(ports), **spec},
            }
        )
    )
    assert isinstance(made, Service)
    return made


def pod(name: str, status: Mapping[str, Any] = READY, /, **spec: Any) -> Pod:
    made = codec.decode_object(
        codec.encode(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "shop", **spec.pop("metadata", {})},
                "spec": {"containers": [{"name": "main", **spec.pop("container", {})}], **spec},
                "status": status,
            }
        )
    )
    assert isinstance(made, Pod)
    return made


SQL = {"ports": [{"name": "sql", "containerPort": 15432}]}


def test_ready_pods_are_taken_by_name() -> None:
    gone = pod("b", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    pods = [pod("d"), pod("c", UNREADY), gone, pod("a"), pod("e", {"phase": "Succeeded"})]

    found = backends_of(service({"port": 5432}), pods, 5432)

    assert found == (Backend("a", 5432), Backend("d", 5432))


@pytest.mark.parametrize(
    ("target", "number"), [({}, 5432), ({"targetPort": 6000}, 6000), ({"targetPort": "sql"}, 15432)]
)
def test_the_port_is_the_services_target_port(target: Mapping[str, Any], number: int) -> None:
    found = backends_of(service({"port": 5432, **target}), [pod("a", container=SQL)], 5432)

    assert found == (Backend("a", number),)


def test_a_named_port_may_be_a_sidecars_and_is_not_an_init_containers() -> None:
    named = service({"port": 5432, "targetPort": "sql"})
    sidecar = {"name": "proxy", "restartPolicy": "Always", **SQL}
    init = {"name": "prepare", **SQL}

    found = backends_of(
        named, [pod("a", initContainers=[init]), pod("b", initContainers=[sidecar])], 5432
    )

    assert found == (Backend("b", 15432),)


def test_a_headless_service_leads_to_the_port_that_was_asked_for() -> None:
    headless = service({"port": 5432, "targetPort": "sql"}, clusterIP="None")

    assert backends_of(headless, [pod("a", container=SQL)], 9187) == (Backend("a", 9187),)


def test_a_hostname_is_that_of_one_pod() -> None:
    pods = [pod(name, hostname=name, subdomain="db") for name in ("db-0", "db-1")]

    found = backends_of(service({"port": 1}, clusterIP="None"), pods, 1, hostname="db-1")

    assert found == (Backend("db-1", 1),)


def test_pods_that_are_not_ready_count_where_the_service_publishes_them() -> None:
    shown = service({"port": 1}, publishNotReadyAddresses=True)

    assert backends_of(shown, [pod("a", UNREADY)], 1) == (Backend("a", 1),)


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        ([], "there is no pod of Service db"),
        ([pod("a", UNREADY)], "the only pod of Service db is not ready"),
        ([pod("a", UNREADY), pod("b", UNREADY)], "none of the 2 pods of Service db is ready"),
        ([pod("a")], "no pod of Service db has the port that the Service names for 5432"),
    ],
)
def test_that_there_is_no_pod_is_a_sentence(pods: list[Pod], said: str) -> None:
    assert backends_of(service({"port": 5432, "targetPort": "sql"}), pods, 5432) == said


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"type": "ExternalName", "externalName": "a.example"}, "it is another name for a.example"),
        ({"selector": {}}, "it selects no pods"),
        ({"ports": []}, "port-forward carries TCP alone, and it has no TCP port"),
        ({}, None),
    ],
)
def test_some_services_cannot_be_forwarded(spec: dict[str, Any], said: str | None) -> None:
    assert why_not(service({"port": 1}, **spec)) == said


def test_ports_that_are_not_tcp_are_told() -> None:
    found = service({"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"})

    assert other_ports(found) == ("53/UDP",)
