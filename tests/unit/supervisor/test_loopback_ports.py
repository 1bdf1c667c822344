"""Local ports for a Service: its own where they are free."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Callable

import pytest

from reflet.supervisor.loopback_ports import (
    ABOVE_ROOTS,
    EVERYBODYS_ADDRESS,
    bound_ports,
    loopback_addresses,
)

Fails = Callable[[str, int], int]


class Sockets:
    """Stands for the system: *fails* says with which error a place is refused, 0 for none."""

    def __init__(self, fails: Fails) -> None:
        self._fails = fails
        self.open: list[tuple[str, int]] = []

    def create_server(self, place: tuple[str, int]) -> FakeSocket:
        if number := self._fails(*place):
            raise OSError(number, os.strerror(number))
        self.open.append(place)
        return FakeSocket(self, place)


class FakeSocket:
    def __init__(self, sockets: Sockets, place: tuple[str, int]) -> None:
        self._sockets = sockets
        self.place = place

    def close(self) -> None:
        self._sockets.open.remove(self.place)


def bound(monkeypatch: pytest.MonkeyPatch, fails: Fails, *ports: int) -> tuple[Sockets, str]:
    sockets = Sockets(fails)
    monkeypatch.setattr(socket, "create_server", sockets.create_server)
    address, _ = bound_ports("db.shop", ports)
    return sockets, address


def test_addresses_are_loopback_and_the_same_in_every_run() -> None:
    addresses = loopback_addresses("db.shop")

    assert addresses == loopback_addresses("db.shop")
    assert addresses != loopback_addresses("cache.shop")
    assert all(ipaddress.ip_address(each).is_loopback for each in addresses)
    assert addresses[-1] == EVERYBODYS_ADDRESS


def test_a_service_has_its_own_ports_on_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, address = bound(monkeypatch, lambda *_: 0, 5432, 9187)

    assert address == loopback_addresses("db.shop")[0]
    assert sockets.open == [(address, 5432), (address, 9187)]


def test_where_one_port_is_taken_all_go_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = loopback_addresses("db.shop")
    taken = {(first, 9187): errno.EADDRINUSE}

    sockets, address = bound(monkeypatch, lambda *place: taken.get(place, 0), 5432, 9187)

    assert address == second
    assert sockets.open == [(second, 5432), (second, 9187)]


def test_a_port_that_only_root_may_take_becomes_a_higher_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sockets, address = bound(monkeypatch, lambda _, port: errno.EACCES * (0 < port < 1024), 80)

    assert sockets.open == [(address, 80 + ABOVE_ROOTS)]


def test_where_there_is_one_loopback_address_ports_that_are_taken_become_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(address: str, port: int) -> int:
        if address != EVERYBODYS_ADDRESS:
            return errno.EADDRNOTAVAIL
        return errno.EADDRINUSE * (port in {5432, 5432 + ABOVE_ROOTS})

    sockets, address = bound(monkeypatch, fails, 5432, 9187)

    assert address == EVERYBODYS_ADDRESS
    assert sockets.open == [(address, 0), (address, 9187)]


def test_any_other_refusal_is_raised_and_nothing_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sockets = Sockets(lambda _, port: errno.EMFILE * (port == 2))
    monkeypatch.setattr(socket, "create_server", sockets.create_server)

    with pytest.raises(OSError, match="Too many open files"):
        bound_ports("db.shop", (1, 2))

    assert sockets.open == []


def test_where_one_port_cannot_be_had_none_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {5432: errno.EADDRINUSE, 5432 + ABOVE_ROOTS: 0}
    sockets = Sockets(lambda _, port: numbers.get(port, errno.EMFILE))
    monkeypatch.setattr(socket, "create_server", sockets.create_server)

    with pytest.raises(OSError, match="Too many open files"):
        bound_ports("db.shop", (5432, 9187))

    assert sockets.open == []
