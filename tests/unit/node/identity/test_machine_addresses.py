from __future__ import annotations

import pytest

from reflet.node.identity import machine
from reflet.node.identity.machine import node_addresses as addresses_of


@pytest.mark.parametrize(
    ("server", "addresses"),
    [
        ("https://localhost:6443", ("127.0.0.1",)),
        ("https://127.0.0.1:6443", ("127.0.0.1",)),
        ("https://127.8.9.10", ("127.0.0.1",)),
        ("https://[::1]:6443", ("127.0.0.1",)),
        ("https://10.0.0.1:6443", ("10.9.8.7", "fd00::7")),
        ("https://localhost.example.org", ("10.9.8.7", "fd00::7")),
        ("https://api.example.org/path", ("10.9.8.7", "fd00::7")),
    ],
)
def test_pods_have_the_machines_addresses_unless_the_server_is_on_it(
    monkeypatch: pytest.MonkeyPatch, server: str, addresses: tuple[str, ...]
) -> None:
    monkeypatch.setattr(machine, "machine_addresses", lambda: ("10.9.8.7", "fd00::7"))

    assert addresses_of("", server) == addresses


@pytest.mark.parametrize("server", ["https://localhost:6443", "https://10.0.0.1:6443"])
def test_an_address_that_was_given_is_the_only_one(server: str) -> None:
    assert addresses_of("192.0.2.1", server) == ("192.0.2.1",)
