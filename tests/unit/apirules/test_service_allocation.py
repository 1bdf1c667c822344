from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.service_allocation import AddressesExhausted, ServiceAddresses


def service(*addresses: str, ports: tuple[int, ...] = ()) -> dict[str, Any]:
    listed = [{"nodePort": port} for port in ports]
    return {"spec": {"clusterIPs": list(addresses), "ports": listed}}


def first(_: int) -> int:
    return 0


def test_the_first_address_is_the_servers_own() -> None:
    assert ServiceAddresses("10.96.0.0/16").kubernetes_address == "10.96.0.1"


def test_choosing_takes_nothing_until_the_service_is_noted() -> None:
    addresses = ServiceAddresses("10.0.0.0/29")

    assert addresses.choose_address(first) == addresses.choose_address(first) == "10.0.0.1"
    addresses.note(service("10.0.0.1", ports=(30000,)))
    assert addresses.choose_address(first) == "10.0.0.2"
    assert addresses.choose_port(first) == 30001


def test_what_is_forgotten_is_free_again() -> None:
    addresses = ServiceAddresses("10.0.0.0/29")
    addresses.note(service("10.0.0.1", ports=(30000,)))

    addresses.forget(service("10.0.0.1", ports=(30000,)))

    assert not addresses.is_taken("10.0.0.1")
    assert not addresses.is_port_taken(30000)


def test_services_without_an_address_take_none() -> None:
    addresses = ServiceAddresses("10.0.0.0/29")

    addresses.note(service("None"))

    assert not addresses.is_taken("None")


def test_a_full_network_is_an_error() -> None:
    addresses = ServiceAddresses("10.0.0.0/30")
    addresses.note(service("10.0.0.1", "10.0.0.2"))

    with pytest.raises(AddressesExhausted):
        addresses.choose_address(first)


def test_ports_wanted_by_the_same_service_are_left_alone() -> None:
    assert ServiceAddresses().choose_port(first, [30000, 30001]) == 30002


@pytest.mark.parametrize(
    ("address", "served"), [("10.96.3.4", True), ("1.2.3.4", False), ("x", False)]
)
def test_addresses_outside_the_network_are_not_served(address: str, served: bool) -> None:
    assert ServiceAddresses().serves(address) is served
