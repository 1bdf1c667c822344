"""Whose token it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reflet.devserver.request.authentication import (
    ADMIN,
    ISSUER,
    Authenticator,
    TokenIssuer,
    TokenOwner,
    is_loopback,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ISSUED = TokenIssuer(b"secret")


HERE = {"Host": "127.0.0.1:8080"}


def credentials(*, needs_token: bool = True) -> Authenticator:
    return Authenticator("admin-token", ISSUED, now=lambda: NOW, needs_token=needs_token)


@pytest.mark.parametrize(
    "header", ["Bearer admin-token", "bearer admin-token", " Bearer admin-token and more"]
)
def test_the_administrator_is_known_by_the_token(header: str) -> None:
    assert credentials().user({"Authorization": header}) is ADMIN


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer  admin-token",
        "Bearer wrong",
        "Basic admin-token",
        "Bearer ü",
        "Bearer \udcff.\udcff",
    ],
)
def test_others_are_nobody(header: str) -> None:
    assert credentials().user({**HERE, "Authorization": header}) is None


def test_a_service_account_is_known_by_its_own() -> None:
    account = TokenOwner("default", "robot", "uid")
    token, _ = ISSUED.issue(account, audiences=[ISSUER], now=NOW, seconds=600)

    user = credentials().user({"Authorization": f"Bearer {token}"})

    assert user is not None
    assert user.name == "system:serviceaccount:default:robot"
    assert "system:serviceaccounts:default" in user.groups


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:8080", "[::1]"]
)
def test_where_no_token_is_needed_silence_is_the_administrator(host: str) -> None:
    assert credentials(needs_token=False).user({"Host": host}) is ADMIN


@pytest.mark.parametrize("header", ["Bearer", "Bearer wrong", "Basic admin-token"])
def test_a_wrong_token_is_wrong_even_where_none_is_needed(header: str) -> None:
    assert credentials(needs_token=False).user({**HERE, "Authorization": header}) is None


@pytest.mark.parametrize(
    "headers",
    [
        {**HERE, "Origin": "https://example.com"},
        {**HERE, "Origin": "null"},
        {"Host": "rebound.example.com:8080"},
        {"Host": "127.0.0.1.example.com"},
        {"Host": ""},
        {},
    ],
)
def test_web_pages_are_never_the_administrator_without_a_token(headers: dict[str, str]) -> None:
    assert credentials(needs_token=False).user(headers) is None


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_a_loopback_address_is_this_machine_and_nothing_else(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
