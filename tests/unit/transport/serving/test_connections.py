from __future__ import annotations

import pytest

from reflet.transport.serving.connections import ConnectionPlace, ConnectionPlaces, peer_of


class Port:
    """A port with so many places, and who was sent away from it."""

    def __init__(self, most: int) -> None:
        self._places = ConnectionPlaces(most)
        self.sent_away: list[str] = []

    def come(self, peer: str, name: str = "", *, asks: bool = False) -> ConnectionPlace | None:
        place = ConnectionPlace(peer, dismiss=lambda: self.sent_away.append(name or peer))
        if not self._places.take(place):
            return None
        place.has_asked = asks
        return place

    def leave(self, place: ConnectionPlace) -> None:
        self._places.leave(place)

    def __len__(self) -> int:
        return len(self._places)


def test_one_peer_has_half_of_the_places_and_its_oldest_silent_connection_goes() -> None:
    port = Port(4)
    for name in ("first", "second", "third"):
        assert port.come("flood", name)

    assert (port.sent_away, len(port)) == (["first"], 2)


def test_a_probe_gets_through_a_flood_from_its_own_address_once_it_has_asked() -> None:
    port = Port(4)
    port.come("flood", "a")
    port.come("flood", "probe", asks=True)
    for name in "bcd":
        port.come("flood", name)

    assert port.sent_away == ["a", "b", "c"]


def test_where_all_of_a_peer_have_asked_whoever_comes_is_turned_away() -> None:
    port = Port(4)
    for name in "ab":
        port.come("reader", name, asks=True)

    assert port.come("reader", "c") is None
    assert (port.sent_away, len(port)) == ([], 2)


def test_when_the_port_is_full_the_peer_with_the_most_gives_a_place() -> None:
    port = Port(4)
    for peer, name in (("calm", "calm"), ("flood", "a"), ("flood", "b"), ("other", "other")):
        port.come(peer, name)

    assert port.come("probe")
    assert (port.sent_away, len(port)) == (["a"], 4)


def test_when_all_have_asked_nobody_is_sent_away() -> None:
    port = Port(2)
    port.come("a", asks=True)
    port.come("b", asks=True)

    assert port.come("c") is None
    assert port.sent_away == []


def test_a_place_that_was_left_can_be_taken() -> None:
    port = Port(2)
    place = port.come("a", asks=True)
    assert place is not None
    port.leave(place)
    port.leave(place)  # whoever was sent away leaves, too

    assert port.come("a")
    assert (port.sent_away, len(port)) == ([], 1)


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("", ""),
    ],
)
def test_an_address_is_a_peer_and_with_ipv6_its_network(address: str, peer: str) -> None:
    assert peer_of(address) == peer
