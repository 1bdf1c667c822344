"""Who asks: the administrator, or a service account with a token that was made here.

Both may do everything, and act as anybody else (impersonation.py).  A service account's token
looks like the real one, but is signed with a secret of the server's own (HS256): nobody else needs
to check it.

Upstream: apiserver/pkg/authentication/request/bearertoken/bearertoken.go, Authenticator;
pkg/serviceaccount/jwt.go, JWTTokenGenerator
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any, Final, final

ISSUER: Final = "https://kubernetes.default.svc"
PREFIX: Final = "system:serviceaccount:"
AUTHENTICATED: Final = "system:authenticated"


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who asks; ``extra`` are further facts by their keys, which mean nothing here."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def document(self) -> dict[str, Any]:
        """Describe the user as reviews do."""
        described: dict[str, Any] = {"username": self.name}
        if self.uid:
            described["uid"] = self.uid
        if self.groups:
            described["groups"] = list(self.groups)
        if self.extra:
            described["extra"] = {key: list(values) for key, values in self.extra}
        return described


ADMIN: Final = UserInfo("reflet:admin", "reflet:admin", ("system:masters", AUTHENTICATED))


@dataclass(frozen=True, slots=True)
class TokenOwner:
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
        return (*groups, AUTHENTICATED)


@final
class TokenIssuer:
    """Makes tokens with a secret, and knows them again by it; another secret ends them all."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def issue(
        self,
        account: TokenOwner,
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

    def recognize(self, token: str, now: datetime) -> TokenOwner | None:
        """Say whose token it is; None when it is not ours, not for us, or has expired."""
        signed, _, signature = token.rpartition(".")
        if not hmac.compare_digest(self._signature(signed).encode(), _bytes(signature)):
            return None
        try:
            payload = json.loads(_decoded(signed.partition(".")[2]))
            if not payload["nbf"] <= now.timestamp() < payload["exp"]:
                return None
            if ISSUER not in payload["aud"]:
                return None
            claims = payload["kubernetes.io"]
            account = claims["serviceaccount"]
            return TokenOwner(claims["namespace"], account["name"], account["uid"])
        except (ValueError, KeyError, TypeError):
            return None

    def _signature(self, text: str) -> str:
        digest = hmac.digest(self.secret, _bytes(text), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@final
class Authenticator:
    """The administrator's token, and those that service accounts were given.

    With ``needs_token=False`` whoever shows no credentials at all is the administrator, as with
    ``kubectl proxy``: clients do not send theirs where they could be overheard, that is over
    plain HTTP.  Wrong credentials are wrong all the same, and web pages still need a token.
    """

    def __init__(
        self,
        token: str,
        issuer: TokenIssuer,
        *,
        now: Callable[[], datetime],
        needs_token: bool = True,
    ) -> None:
        self.token = token
        self._issuer = issuer
        self._now = now
        self._needs_token = needs_token

    def user(self, headers: Mapping[str, str]) -> UserInfo | None:
        """Say who sends a request with these headers; None when nobody known does."""
        authorization = headers.get("Authorization", "")
        if not authorization and not self._needs_token and not _comes_from_a_page(headers):
            return ADMIN
        token = bearer_token(authorization)
        return self.owner(token) if token else None

    def owner(self, token: str) -> UserInfo | None:
        """Say whose a token is; None when it is not a good one."""
        if hmac.compare_digest(_bytes(token), self.token.encode()):
            return ADMIN
        account = self._issuer.recognize(token, self._now())
        if account is None:
            return None
        return UserInfo(account.user, account.uid, account.groups)


def bearer_token(authorization: str) -> str:
    """Give the token in a header; empty when there is none, as after two spaces."""
    scheme, token, *_ = (*authorization.strip().split(" ", 2), "")
    return token if scheme.lower() == "bearer" else ""


def is_loopback(host: str) -> bool:
    """Whether a host, as a name or an address, is this machine and nothing else."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _comes_from_a_page(headers: Mapping[str, str]) -> bool:
    """Whether some web page may have made a browser on this machine send the request.

    A page of another origin is given away by ``Origin``, which browsers add to whatever can
    change something.  A page that gave its own name this machine's address is not of another
    origin, but says that name in ``Host``.
    """
    host = headers.get("Host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return "Origin" in headers or not is_loopback(name.removeprefix("[").removesuffix("]"))


def _bytes(text: str) -> bytes:
    """Give the bytes that a header had; what is not UTF-8 in it was kept as surrogates."""
    return text.encode("utf-8", "surrogateescape")


def _encoded(document: dict[str, Any]) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
