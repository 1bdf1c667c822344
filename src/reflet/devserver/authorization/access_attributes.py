"""What an authorizer judges: the verb and its object, or the path of a page.

Read from a request as the real server does it, before anybody knows whether such a resource is
served, or from the questions of a review.

Upstream: apiserver/pkg/endpoints/request/requestinfo.go, NewRequestInfo;
apiserver/pkg/endpoints/filters/authorization.go, GetAuthorizerAttributes;
pkg/registry/authorization/util/helpers.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from reflet.api.selectors.fields import FieldRequirement, FieldSelector, escape
from reflet.apirules.refusals import qualified
from reflet.devserver.request.request_info import ApiRequest, RequestTarget
from reflet.devserver.storage.stored import Key
from reflet.errors import ParseError

_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "POST": "create",
        "GET": "get",
        "HEAD": "get",
        "PUT": "update",
        "PATCH": "patch",
        "DELETE": "delete",
    }
)
_WITH_SELECTORS: Final = frozenset({"list", "watch", "deletecollection"})


@dataclass(frozen=True, slots=True)
class AccessAttributes:
    """One question of access; ``path`` is that of a page, and empty where a resource is meant.

    ``fields`` are the requirements of the field selector, as far as it could be read; those of
    a review leave out the ones that exclude a value, which grant nothing.
    """

    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    fields: tuple[FieldRequirement, ...] = ()

    @property
    def qualified(self) -> str:
        """The resource with its group: ``secrets``, ``leases.coordination.k8s.io``."""
        return qualified(self.resource, self.group)

    @property
    def key(self) -> Key:
        """The key that the object would have."""
        return Key(self.qualified, self.namespace, self.name)

    def selects(self, field: str, value: str) -> bool:
        """Whether the field selector asks for this value of a field."""
        return FieldRequirement(field, value) in self.fields


def attributes_of(request: ApiRequest, target: RequestTarget | None) -> AccessAttributes:
    """Say what a request asks leave for."""
    if target is None:
        return AccessAttributes(request.method.lower(), request.path)
    verb = "watch" if target.watched else _VERBS.get(request.method, "")
    name = target.name
    if not name and verb == "get":
        verb = "watch" if request.flag("watch") else "list"
        name = _selected_name(_requirements(request.text("fieldSelector")))
    elif not name and verb == "delete":
        verb = "deletecollection"
    fields: tuple[FieldRequirement, ...] = ()
    # A watch in the old way, by its path, may be of one object and then has no selector.
    if verb in _WITH_SELECTORS and not target.watched:
        fields = _requirements(request.text("fieldSelector"))
    return AccessAttributes(
        verb,
        group=target.group,
        resource=target.plural,
        subresource=target.subresource.partition("/")[0],
        # A namespace is in itself.
        namespace=target.namespace or (target.name if target.plural == "namespaces" else ""),
        name=name,
        fields=fields,
    )


def attributes_of_review(spec: Mapping[str, Any]) -> AccessAttributes:
    """Say what the spec of a review asks about."""
    page = spec.get("nonResourceAttributes")
    if page:
        return AccessAttributes(page.get("verb") or "", page.get("path") or "")
    asked = spec.get("resourceAttributes") or {}
    selector = asked.get("fieldSelector") or {}
    fields = _requirements(selector.get("rawSelector") or "") or tuple(
        requirement
        for each in selector.get("requirements") or ()
        if each.get("operator") == "In" and len(each.get("values") or ()) == 1
        for requirement in _requirements(f"{each.get('key') or ''}={escape(each['values'][0])}")
    )
    parts = ("group", "resource", "subresource", "namespace", "name")
    named = {part: asked.get(part) or "" for part in parts}
    return AccessAttributes(asked.get("verb") or "", **named, fields=fields)


def _requirements(text: str) -> tuple[FieldRequirement, ...]:
    try:
        return FieldSelector.parse(text).requirements
    except ParseError:
        return ()


def _selected_name(fields: tuple[FieldRequirement, ...]) -> str:
    name = FieldSelector(fields).requires_exact_match("metadata.name") or ""
    is_segment = name not in {".", ".."} and not {"/", "%"} & set(name)
    return name if is_segment else ""
