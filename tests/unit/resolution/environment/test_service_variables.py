"""Which services a pod hears of, and under which names."""

from __future__ import annotations

import pytest

from reflet.api.core.services import Service, ServicePort
from reflet.resolution.environment.service_variables import services_for, variables_of
from tests.unit.resolution.scenes import service

EVERYBODYS = service("default", "kubernetes", "10.96.0.1")
OWN = service("shop", "db", "10.96.0.2")
OWN_KUBERNETES = service("shop", "kubernetes", "10.96.0.3")
FOREIGN = service("other", "db", "10.96.0.4")
HEADLESS = service("shop", "peers", "None")
EVERY = [EVERYBODYS, OWN, OWN_KUBERNETES, FOREIGN, HEADLESS]


@pytest.mark.parametrize("order", [EVERY, EVERY[::-1]], ids=["as listed", "reversed"])
@pytest.mark.parametrize(
    ("namespace", "links", "expected"),
    [
        ("shop", True, (OWN, OWN_KUBERNETES)),
        ("shop", False, (EVERYBODYS,)),
        ("default", True, (EVERYBODYS,)),
        ("other", True, (FOREIGN, EVERYBODYS)),
    ],
)
def test_a_pod_hears_of_its_own_services_and_of_the_api_server(
    order: list[Service], namespace: str, links: bool, expected: tuple[Service, ...]
) -> None:
    assert services_for(namespace, order, links=links) == expected


def test_named_ports_come_before_the_links() -> None:
    ports = (ServicePort(port=80, name="web-ui"), ServicePort(port=53, protocol="UDP"))
    dotted = service("shop", "my-db.v1", "10.96.0.2", *ports)

    assert {item.name: item.value for item in variables_of([dotted])} == {
        "MY_DB.V1_SERVICE_HOST": "10.96.0.2",
        "MY_DB.V1_SERVICE_PORT": "80",
        "MY_DB.V1_SERVICE_PORT_WEB_UI": "80",
        "MY_DB.V1_PORT": "tcp://10.96.0.2:80",
        "MY_DB.V1_PORT_80_TCP": "tcp://10.96.0.2:80",
        "MY_DB.V1_PORT_80_TCP_PROTO": "tcp",
        "MY_DB.V1_PORT_80_TCP_PORT": "80",
        "MY_DB.V1_PORT_80_TCP_ADDR": "10.96.0.2",
        "MY_DB.V1_PORT_53_UDP": "udp://10.96.0.2:53",
        "MY_DB.V1_PORT_53_UDP_PROTO": "udp",
        "MY_DB.V1_PORT_53_UDP_PORT": "53",
        "MY_DB.V1_PORT_53_UDP_ADDR": "10.96.0.2",
    }


def test_a_service_without_ports_has_only_a_host() -> None:
    portless = Service(metadata=OWN.metadata, spec=type(OWN.spec)(cluster_ip="10.96.0.9"))

    assert [item.name for item in variables_of([portless])] == ["DB_SERVICE_HOST"]
