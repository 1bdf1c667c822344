"""Tokens of service accounts: made, and recognized again.

Owns: what is in a token and whether it is good.  A token looks like the real one, but is signed
with a secret of the server's own (HS256): nobody else needs to check it.  Must not know
requests, nor what a token allows.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, final

ISSUER: Final = "https://kubernetes.default.svc"
PREFIX: Final = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Whose token it is."""

    namespace: str
    name: str
    uid: str

    @property
    def user(self) -> str:
        """The name under which the service account acts."""
        return f"{PREFIX}{self.namespace}:{self.name}"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that every service account is in."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{self.namespace}")
        return (*groups, "system:authenticated")


@final
class TokenIssuer:
    """Makes tokens with a secret, and knows them again by it."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(
        self,
        account: ServiceAccount,
        *,
        audiences: Sequence[str],
        now: datetime,
        seconds: int,
        bound_to: dict[str, Any] | None = None,
    ) -> tuple[str, datetime]:
        """Make a token that is good for some seconds; also say until when."""
        ends = now + timedelta(seconds=seconds)
        moment = int(now.timestamp())
        claims: dict[str, Any] = {
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        }
        if bound_to is not None:
            kind = str(bound_to.get("kind", "")).lower()
            claims[kind] = {name: bound_to.get(name, "") for name in ("name", "uid")}
        payload = {
            "aud": list(audiences),
            "exp": int(ends.timestamp()),
            "iat": moment,
            "iss": ISSUER,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": claims,
            "nbf": moment,
            "sub": account.user,
        }
        signed = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(payload)}"
        return f"{signed}.{self._signature(signed)}", ends

    def recognize(self, token: str, now: datetime) -> ServiceAccount | None:
        """Say whose token it is; None when it is not ours, not for us, or has expired."""
        signed, _, signature = token.rpartition(".")
        if not hmac.compare_digest(self._signature(signed).encode(), signature.encode()):
            return None
        try:
            payload = json.loads(_decoded(signed.partition(".")[2]))
            if not payload["nbf"] <= now.timestamp() < payload["exp"]:
                return None
            if ISSUER not in payload["aud"]:
                return None
            claims = payload["kubernetes.io"]
            account = claims["serviceaccount"]
            return ServiceAccount(claims["namespace"], account["name"], account["uid"])
        except (ValueError, KeyError, TypeError):
            return None

    def _signature(self, text: str) -> str:
        digest = hmac.digest(self._secret, text.encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _encoded(document: dict[str, Any]) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
