"""What a request asks for: its path and query, taken apart.

Upstream: apiserver/pkg/endpoints/request/requestinfo.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote

from reflet.apirules.refusals import bad_request

_FALSE: Final = frozenset({"false", "0"})

# What stands after a namespace's name and is no resource in that namespace.
_NAMESPACE_SUBRESOURCES: Final = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """What a path is about: a collection, an object, or a subresource of an object.

    ``namespace`` is None where the path names none.  ``watched`` is whether the path itself, in
    the old way, asks for a watch.
    """

    group: str
    version: str
    plural: str
    namespace: str | None = None
    name: str = ""
    subresource: str = ""
    watched: bool = False


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request: the method, the path as it was sent, and the query parameters.

    Of a parameter that is given twice, the first counts; ``dry_run`` has all of them.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    dry_run: tuple[str, ...] = ()
    user_agent: str = ""

    @classmethod
    def read(cls, method: str, raw_path: str, user_agent: str = "") -> ApiRequest:
        """Take apart the path and query of a request line."""
        path, _, text = raw_path.partition("?")
        if not text:
            return cls(method, unquote(path), user_agent=user_agent)
        query: dict[str, str] = {}
        dry_run: list[str] = []
        for name, value in parse_qsl(text, keep_blank_values=True):
            query.setdefault(name, value)
            if name == "dryRun":
                dry_run.append(value)
        return cls(method, unquote(path), query, tuple(dry_run), user_agent)

    def text(self, name: str) -> str:
        """Give a parameter, empty when it is absent."""
        return self.query.get(name, "")

    def flag(self, name: str) -> bool:
        """Whether a parameter is given and not ``false`` or ``0``; empty counts as given."""
        value = self.query.get(name)
        return value is not None and value.lower() not in _FALSE

    def optional_flag(self, name: str) -> bool | None:
        """Give a flag, or None when the parameter is absent."""
        return self.flag(name) if name in self.query else None

    def integer(self, name: str) -> int | None:
        """Give a whole number, or None when the parameter is absent or empty.

        Refuses anything else with the real server's text.
        """
        text = self.query.get(name)
        if not text:
            return None
        digits = text[1:] if text[0] in "+-" else text
        if not (digits.isascii() and digits.isdecimal()):
            raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
        value = int(text)
        if not -(2**63) <= value < 2**63:
            raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
        return value

    @property
    def field_manager(self) -> str:
        """Who writes: the parameter, or the program's name as its user agent gives it."""
        return self.text("fieldManager") or self.user_agent.partition("/")[0] or "unknown"


def target_of(path: str) -> RequestTarget | None:
    """Find what a path is about; None when it is not about a resource."""
    parts = path.removeprefix("/").rstrip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    watched = rest[0] == "watch" and len(rest) > 1
    if watched:
        rest = rest[1:]
    if rest[0] != "namespaces" or len(rest) < 3 or rest[2] in _NAMESPACE_SUBRESOURCES:
        namespace = None
    else:
        namespace, rest = rest[1], rest[2:]
    plural, name, *below = (*rest, "", "")[: max(len(rest), 2)]
    return RequestTarget(group, version, plural, namespace, name, "/".join(below), watched)
