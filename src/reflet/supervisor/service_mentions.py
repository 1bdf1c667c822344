"""Where the value of a variable names a host, and which Service such a name can mean.  Pure.

Only forms count that can hardly mean anything else: URLs, ``host:port``, ``tcp(host:port)``,
``host=… port=…``, lists of hosts, and names that end in ``.svc`` or ``.svc.cluster.local``.  A word
alone, as ``db``, may mean anything, and counts as a host only in a variable whose name says so:
``DB_HOST``.  Variables about the process itself, as ``ALLOWED_HOSTS``, are left alone.

Which Service a name means follows the search path of a pod: its own namespace first, then
namespaces of the cluster.  The cluster's domain is taken to be ``cluster.local``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

CLUSTER_DOMAIN: Final = ".cluster.local"
LONGEST_NAME: Final = 253
LONGEST_LIST: Final = 4096
"""Characters; a longer value is no list of hosts."""

HOST_WORDS: Final = (
    *("host", "hosts", "hostname", "addr", "addrs", "address", "addresses", "server", "servers"),
    *("endpoint", "endpoints", "broker", "brokers", "url", "uri", "dsn"),
)
"""How the name of a variable ends that is about another host."""

OWN_WORDS: Final = frozenset(
    (
        *("allowed", "trusted", "cors", "origin", "origins", "bind", "listen", "virtual", "no"),
        *("advertised", "advertise", "public"),
    )
)
"""Words in the names of variables about the process itself: ``NO_PROXY``, ``BIND_ADDRESS``."""

MOST_HOSTS: Final = 256
"""What names more of them is a text."""

_HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]"
_PLACE: Final = re.compile(rf"({_HOST})(?::(\d{{1,5}}))?")
_LISTED: Final = re.compile(rf"({_HOST})(?::(\d{{1,5}})(?:/\S*)?)?")
_AUTHORITY: Final = re.compile(r"[^\s/?#\"'<>\\]*")
_DIALLED: Final = re.compile(r"\btcp[46]?\(([^()\s]{1,259})\)")
_KEYED: Final = re.compile(
    r"(?:^|[\s;])(?:host|server|data source|address|addr)\s?=\s?(?:tcp:)?"
    rf"({_HOST})(?:,(\d{{1,5}}))?(?=$|[\s;])",
    re.IGNORECASE,
)
_KEYED_PORT: Final = re.compile(r"(?:^|[\s;])port\s?=\s?(\d{1,5})(?=$|[\s;])", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SERVICE_LABEL: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NAME: Final = string.ascii_letters + string.digits + ".-"
_LONGEST_SCHEME: Final = 32


@dataclass(frozen=True, slots=True, order=True)
class ServiceName:
    """A Service; with a ``hostname``, the one of its pods that has it, as ``db-0.db``."""

    namespace: str
    name: str
    hostname: str = ""

    def __str__(self) -> str:
        own = f"{self.hostname}." if self.hostname else ""
        return f"{own}{self.name}.{self.namespace}"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a value."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A host in a value, and the port that it stands with.

    ``scheme`` is that of a URL.  One that is not ``certain`` may be a word that means something
    else.
    """

    span: Span
    host: str
    port_span: Span | None = None
    port: int | None = None
    scheme: str = ""
    certain: bool = True


def mentions(variable: str, value: str) -> list[Mention]:
    """The hosts that the value of *variable* names, from left to right."""
    words = [word.lower() for word in _WORDS.findall(variable)]
    if not value or OWN_WORDS.intersection(words):
        return []
    is_host = bool(words) and words[-1].endswith(HOST_WORDS)
    every = chain(
        _of_urls(value),
        _dialled(value),
        _keyed(value),
        _listed(value, is_host=is_host),
        _qualified(value),
    )
    found: list[Mention] = []
    for mention in islice(every, MOST_HOSTS):
        if all(
            mention.span.end <= other.span.start or other.span.end <= mention.span.start
            for other in found
        ):
            found.append(mention)
    return sorted(found, key=lambda mention: mention.span)


def port_variable(variable: str) -> str | None:
    """The name of the variable that would say the port: ``DB_PORT`` for ``DB_HOST``."""
    for word in sorted(HOST_WORDS, key=len, reverse=True):
        if variable.lower().endswith(word):
            port = "PORT" if variable[-1].isupper() else "Port" if variable[0].islower() else "port"
            return variable[: len(variable) - len(word)] + port
    return None


def services_meant(host: str, namespace: str) -> tuple[ServiceName, ...]:
    """What a host can mean to a pod of *namespace*, in the order of its search path.

    ``db-0.db`` is a pod of the Service ``db``, if that is headless, and else the Service ``db-0``
    of the namespace ``db``.
    """
    bare = host.lower()
    is_absolute = bare.endswith(".")
    bare = bare.removesuffix(".")
    in_domain = bare.removesuffix(CLUSTER_DOMAIN)
    if is_absolute and in_domain == bare:
        return ()
    labels = in_domain.split(".")
    is_service = labels[-1] == "svc" and len(labels) > 2
    if in_domain != bare and not is_service:
        return ()
    if is_service:
        labels = labels[:-1]
    if len(in_domain) > LONGEST_NAME or not all(map(_LABEL.fullmatch, labels)):
        return ()
    match labels:
        case [name]:
            meant = [ServiceName(namespace, name)]
        case [first, second] if is_service:
            meant = [ServiceName(second, first)]
        case [first, second]:
            meant = [ServiceName(namespace, second, first), ServiceName(second, first)]
        case [first, second, third]:
            meant = [ServiceName(third, second, first)]
        case _:
            meant = []
    return tuple(each for each in meant if _SERVICE_LABEL.fullmatch(each.name))


def _of_urls(value: str) -> Iterator[Mention]:
    begin = value.find("://")
    while begin >= 0:
        scheme = _end_of(value[max(0, begin - _LONGEST_SCHEME) : begin], _NAME + "+")
        authority = _AUTHORITY.match(value, begin + 3)
        if scheme and authority is not None:
            hosts = begin + 3 + authority[0].rfind("@") + 1
            yield from _pieces(value, hosts, authority.end(), scheme=scheme.lower())
        begin = value.find("://", begin + 3)


def _pieces(value: str, start: int, end: int, *, scheme: str) -> Iterator[Mention]:
    for piece in re.finditer(r"[^,;]+", value[start:end]):
        place = _PLACE.fullmatch(value, start + piece.start(), start + piece.end())
        if place is not None:
            yield _mention(place, scheme=scheme)


def _dialled(value: str) -> Iterator[Mention]:
    for call in _DIALLED.finditer(value):
        place = _PLACE.fullmatch(value, *call.span(1))
        if place is not None:
            yield _mention(place)


def _keyed(value: str) -> Iterator[Mention]:
    ports = list(_KEYED_PORT.finditer(value)) if "=" in value else []
    for place in _KEYED.finditer(value) if "=" in value else ():
        if place[2] is None and len(ports) == 1:
            port = Span(*ports[0].span(1))
            host = Span(*place.span(1))
            yield Mention(span=host, host=_bare(place[1]), port_span=port, port=int(ports[0][1]))
        else:
            yield _mention(place)


def _listed(value: str, *, is_host: bool) -> Iterator[Mention]:
    if len(value) > LONGEST_LIST:
        return
    pieces = list(re.finditer(r"[^\s,;]+", value))
    places = [_LISTED.fullmatch(value, *piece.span()) for piece in pieces]
    for place in places:
        if place is None:
            return  # words of something else
    for place in places:
        if place is not None:
            yield _mention(place, certain=is_host or place[2] is not None or _is_address(place[1]))


def _qualified(value: str) -> Iterator[Mention]:
    """Names that end in ``.svc`` or the cluster's domain, wherever they stand."""
    at = value.find(".svc")
    while at >= 0:
        place = _PLACE.match(value, at - len(_end_of(value[max(0, at - LONGEST_NAME) : at], _NAME)))
        if place is not None and place.end(1) >= at + len(".svc"):
            name = place[1].rstrip(".-").lower()
            if name.endswith((".svc", f".svc{CLUSTER_DOMAIN}")) and place[1][-1] not in ".-":
                yield _mention(place)
        at = value.find(".svc", max(at + 4, place.end(1) if place is not None else 0))


def _mention(place: re.Match[str], *, scheme: str = "", certain: bool = True) -> Mention:
    host = _bare(place[1])
    return Mention(
        span=Span(*place.span(1)),
        host=host,
        port_span=None if place[2] is None else Span(*place.span(2)),
        port=None if place[2] is None else int(place[2]),
        scheme=scheme,
        certain=certain or host.endswith((".svc", f".svc{CLUSTER_DOMAIN}")),
    )


def _end_of(text: str, letters: str) -> str:
    return text[len(text.rstrip(letters)) :]


def _bare(host: str) -> str:
    return host.strip("[]").lower()


def _is_address(host: str) -> bool:
    return host.startswith("[") or re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", host) is not None
