"""The environment that leads to local ports, and what stays as it is."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import Secret
from reflet.api.core.services import Service, ServicePort, ServiceSpec
from reflet.api.meta import ObjectMeta
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.environment.variables import Environment
from reflet.resolution.objects import ObjectsInHand
from reflet.supervisor.forwarded_environment import LocalPlace, forwarded, hosts_named
from reflet.supervisor.service_mentions import ServiceName
from tests.unit.supervisor.scenes import pod

DB = LocalPlace(ServiceName("shop", "db"), "127.70.0.1", {5432: 5432})
WEB = LocalPlace(ServiceName("shop", "web"), "127.70.0.2", {80: 8080, 443: 8443})
PLACES = {"db": DB, "db.shop.svc": DB, "web": WEB, "10.96.0.7": WEB, "fd00::7": WEB}


def environment(
    secret: bool = False, services: tuple[Service, ...] = (), /, **values: str
) -> Environment:
    """A container's, with values of its own or of a Secret, and service links."""
    own = [{"name": name, "value": value} for name, value in values.items()]
    whole = [{"secretRef": {"name": "hidden"}}]
    container: dict[str, Any] = {"envFrom": whole} if secret else {"env": own}
    hidden = Secret(
        metadata=ObjectMeta(namespace="shop", name="hidden"),
        data={name: value.encode() for name, value in values.items()},
    )
    return resolve_environment(
        pod(container, enableServiceLinks=True), "main", ObjectsInHand([hidden]), services=services
    )


def service(address: str, *ports: ServicePort) -> Service:
    return Service(
        metadata=ObjectMeta(namespace="shop", name="web"),
        spec=ServiceSpec(cluster_ip=address, ports=ports),
    )


@pytest.mark.parametrize(
    ("value", "now"),
    [
        ("db:5432", "127.70.0.1:5432"),
        ("db.shop.svc", "127.70.0.1"),
        ("postgres://u:p@db/x", "postgres://u:p@127.70.0.1/x"),
        ("postgresql+psycopg://u:p@db:5432/x", "postgresql+psycopg://u:p@127.70.0.1:5432/x"),
        ("http://web/cart", "http://127.70.0.2:8080/cart"),
        ("https://web", "https://127.70.0.2:8443"),
        ("http://web:80/cart", "http://127.70.0.2:8080/cart"),
        ("http://web,postgres://db/x", "http://127.70.0.2:8080,postgres://127.70.0.1/x"),
        ("host=web port=443", "host=127.70.0.2 port=8443"),
        ("http://[fd00::7]:80", "http://127.70.0.2:8080"),
        ("http://10.96.0.7:443", "http://127.70.0.2:8443"),
    ],
)
def test_a_local_place_takes_the_place_of_a_host(value: str, now: str) -> None:
    result = forwarded(environment(SETTING=value), PLACES)

    assert result.environment.values == {"SETTING": now}


@pytest.mark.parametrize(
    "value",
    [
        "db:9999",
        "http://db/x",
        "other:5432",
        "udp://web:80",
        "mongodb+srv://db/x",
        "foo://web",
        "db",
    ],
)
def test_what_is_not_certain_stays_as_it_is(value: str) -> None:
    result = forwarded(environment(SETTING=value), PLACES)

    assert (result.environment.values, result.changed) == ({"SETTING": value}, {})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("db:9999", "it names a port that is not forwarded of Service db.shop"),
        ("db", "it may name Service db.shop, or mean something else"),
        ("foo://web", "it names Service web.shop without a port, which is another one here"),
        ("host=db host=web port=80", "it names a port that is not forwarded of Service db.shop"),
    ],
)
def test_why_it_stays_is_said_by_name(value: str, said: str) -> None:
    result = forwarded(environment(SETTING=value), PLACES)

    assert result.left == (f"SETTING stays as it is: {said}",)


def test_two_services_that_share_a_port_in_one_value_are_left_to_it() -> None:
    other = LocalPlace(ServiceName("shop", "api"), "127.70.0.3", {80: 9080})

    result = forwarded(environment(S="host=web host=api port=80"), {"web": WEB, "api": other})

    assert result.environment.values == {"S": "host=web host=api port=80"}
    assert result.left == ("S stays as it is: it gives several Services one port",)


def test_a_host_without_a_port_takes_the_variable_beside_with_it() -> None:
    result = forwarded(environment(WEB_HOST="web", WEB_PORT="80", OTHER_PORT="80"), PLACES)

    assert result.environment.values == {
        "WEB_HOST": "127.70.0.2",
        "WEB_PORT": "8080",
        "OTHER_PORT": "80",
    }


def test_what_changed_is_told_with_its_services() -> None:
    result = forwarded(environment(A="http://web", B="db:5432", C="info"), PLACES)

    assert result.changed == {"A": (WEB.service,), "B": (DB.service,)}


def test_the_value_of_a_secret_is_changed_and_in_no_sentence() -> None:
    values = {"URL": "http://u:sesame@web/x", "WORD": "db", "PLACE": "db:4711"}

    result = forwarded(environment(True, **values), PLACES)

    assert result.environment.values["URL"] == "http://u:sesame@127.70.0.2:8080/x"
    assert result.environment.variables["URL"].sensitive
    assert result.left == (
        "PLACE stays as it is: it names a port that is not forwarded of Service db.shop",
    )


@pytest.mark.parametrize("address", ["10.96.0.7", "fd00::7"])
def test_variables_of_service_links_lead_to_the_local_place(address: str) -> None:
    linked = service(address, ServicePort(name="http", port=80), ServicePort(port=443))

    values = forwarded(environment(False, (linked,)), PLACES).environment.values

    assert values == {
        "WEB_SERVICE_HOST": "127.70.0.2",
        "WEB_SERVICE_PORT": "8080",
        "WEB_SERVICE_PORT_HTTP": "8080",
        "WEB_PORT": "tcp://127.70.0.2:8080",
        "WEB_PORT_80_TCP": "tcp://127.70.0.2:8080",
        "WEB_PORT_80_TCP_PROTO": "tcp",
        "WEB_PORT_80_TCP_PORT": "8080",
        "WEB_PORT_80_TCP_ADDR": "127.70.0.2",
        "WEB_PORT_443_TCP": "tcp://127.70.0.2:8443",
        "WEB_PORT_443_TCP_PROTO": "tcp",
        "WEB_PORT_443_TCP_PORT": "8443",
        "WEB_PORT_443_TCP_ADDR": "127.70.0.2",
    }


def test_a_udp_port_of_the_same_number_stays() -> None:
    linked = service("10.96.0.7", ServicePort(port=80, protocol="UDP"))

    values = forwarded(environment(False, (linked,)), PLACES).environment.values

    assert (values["WEB_PORT_80_UDP"], values["WEB_PORT_80_UDP_PORT"]) == (
        "udp://10.96.0.7:80",
        "80",
    )


def test_hosts_are_told_with_the_ports_that_stand_with_them() -> None:
    linked = service("10.96.0.7", ServicePort(port=80))
    found = environment(False, (linked,), A="db:5432", B="http://db:80,http://api", C="word")

    assert hosts_named(found) == {"db": {5432, 80}, "api": frozenset()}
