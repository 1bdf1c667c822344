"""Tokens of service accounts: good ones, and others."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from reflet.devserver.request.authentication import ISSUER, TokenIssuer, TokenOwner

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ACCOUNT = TokenOwner("default", "robot", "uid")


def issued(secret: bytes = b"secret", audiences: tuple[str, ...] = (ISSUER,)) -> str:
    token, _ = TokenIssuer(secret).issue(ACCOUNT, audiences=audiences, now=NOW, seconds=600)
    return token


def test_a_token_is_recognized_until_it_expires() -> None:
    issuer, token = TokenIssuer(b"secret"), issued()

    assert issuer.recognize(token, NOW + timedelta(seconds=599)) == ACCOUNT
    assert issuer.recognize(token, NOW + timedelta(seconds=600)) is None


@pytest.mark.parametrize(
    "token",
    [
        issued(b"other"),
        issued(audiences=("vault",)),
        issued()[:-1],
        "",
        "a.b.c",
        "..",
        "naïve",
    ],
)
def test_other_tokens_are_nobodys(token: str) -> None:
    assert TokenIssuer(b"secret").recognize(token, NOW) is None


def test_a_token_says_what_the_real_one_says() -> None:
    payload = issued().split(".")[1]

    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))

    assert claims["sub"] == "system:serviceaccount:default:robot"
    assert claims["exp"] - claims["iat"] == 600
    assert claims["kubernetes.io"]["serviceaccount"] == {"name": "robot", "uid": "uid"}
