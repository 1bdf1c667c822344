"""Who asks: from the headers of a request to a user.

Owns: which tokens are good, and who needs none.  Must not know what is asked, nor what a user
may do: whoever is known may do everything.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from datetime import datetime
from ipaddress import ip_address
from typing import Final, final

from reflet.devserver.verbs.reviews import User
from reflet.devserver.verbs.tokens import TokenIssuer

ADMIN: Final = User("reflet:admin", "reflet:admin", ("system:masters", "system:authenticated"))


@final
class Credentials:
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

    def user(self, headers: Mapping[str, str]) -> User | None:
        """Say who sends a request with these headers; None when nobody known does."""
        authorization = headers.get("Authorization", "")
        if not authorization and not self._needs_token and not _comes_from_a_page(headers):
            return ADMIN
        scheme, _, token = authorization.partition(" ")
        return self.owner(token.strip()) if scheme.lower() == "bearer" else None

    def owner(self, token: str) -> User | None:
        """Say whose a token is; None when it is not a good one."""
        if hmac.compare_digest(token.encode(), self.token.encode()):
            return ADMIN
        account = self._issuer.recognize(token, self._now())
        if account is None:
            return None
        return User(account.user, account.uid, account.groups)


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
