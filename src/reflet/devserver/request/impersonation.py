"""Whom a request is made as, where its headers name somebody else (``kubectl --as``).

Whoever is known here may act as anybody.

Upstream: apiserver/pkg/endpoints/filters/impersonation/{constrained_impersonation,mode}.go;
apiserver/pkg/authentication/serviceaccount/util.go, SplitUsername
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from reflet.apirules.refusals import bad_request
from reflet.apirules.validation.names import dns_label, dns_subdomain
from reflet.devserver.request.authentication import (
    AUTHENTICATED,
    PREFIX,
    TokenOwner,
    UserInfo,
)
from reflet.errors import ApiError
from reflet.gotext.quoting import quoted

ANONYMOUS: Final = "system:anonymous"
UNAUTHENTICATED: Final = "system:unauthenticated"
NODE_PREFIX: Final = "system:node:"
NODES_GROUP: Final = "system:nodes"

_USER: Final = "impersonate-user"
_GROUP: Final = "impersonate-group"
_UID: Final = "impersonate-uid"
_EXTRA: Final = "impersonate-extra-"


def impersonated(headers: Iterable[tuple[str, str]]) -> UserInfo | None:
    """Say whom the headers of a request name; None when they name nobody.

    Raises BadRequest for groups, a uid or extra values without a user.
    """
    values: dict[str, list[str]] = {}
    for header, value in headers:
        if header[:1] in "Ii":  # few headers of a request begin so
            name = header.lower()
            if name in {_USER, _GROUP, _UID} or name.startswith(_EXTRA):
                values.setdefault(name, []).append(_text(value))
    if not values:
        return None
    name = values.pop(_USER, [""])[0]
    uid = values.pop(_UID, [""])[0]
    groups = values.pop(_GROUP, [])
    extra: dict[str, list[str]] = {}
    for header, given in values.items():
        extra.setdefault(unquote(header.removeprefix(_EXTRA)), []).extend(given)
    if name:
        pairs = tuple((key, tuple(extra[key])) for key in sorted(extra))
        known = groups or _groups_of(name, is_plain=not uid and not extra)
        return UserInfo(name, uid, _with_everybody(name, known), pairs)
    if uid or groups or extra:
        raise _nobody(uid, groups, extra)
    return None


def _groups_of(name: str, *, is_plain: bool) -> list[str]:
    """Give the groups that follow from a name where none are asked for."""
    if name.startswith(PREFIX):
        namespace, colon, account = name.removeprefix(PREFIX).partition(":")
        is_account = colon and not dns_label(namespace) and not dns_subdomain(account)
        return list(TokenOwner(namespace, account, "").groups) if is_account else []
    is_node = name.startswith(NODE_PREFIX) and not dns_subdomain(name.removeprefix(NODE_PREFIX))
    return [NODES_GROUP] if is_node and is_plain else []


def _with_everybody(name: str, groups: list[str]) -> tuple[str, ...]:
    if name == ANONYMOUS:
        everybody = UNAUTHENTICATED
    elif UNAUTHENTICATED in groups:
        return tuple(groups)
    else:
        everybody = AUTHENTICATED
    return tuple(groups) if everybody in groups else (*groups, everybody)


def _nobody(uid: str, groups: list[str], extra: dict[str, list[str]]) -> ApiError:
    """Refuse in the words of the real server, which shows what it has read as Go code."""
    shown = ", ".join(f"{quoted(key)}:{_strings(extra[key])}" for key in sorted(extra))
    more = f"map[string][]string{{{shown}}}" if extra else "map[string][]string(nil)"
    wanted = f'Name:"", UID:{quoted(uid)}, Groups:{_strings(groups)}, Extra:{more}'
    return bad_request(f"requested &user.DefaultInfo{{{wanted}}} without impersonating a user name")


def _strings(texts: list[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, texts))}}}" if texts else "[]string(nil)"


def _text(value: str) -> str:
    """Give a header as text: what is not UTF-8 in it becomes the sign for that."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
