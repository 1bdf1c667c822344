"""What the API server says of an object that it takes, and that is better written otherwise.

Only what depends on the kind; fields that are unknown are found while decoding.

Upstream: pkg/registry/{admissionregistration,networking}/*/strategy.go, WarningsOnCreate and
WarningsOnUpdate; pkg/apis/admissionregistration/validation/static_suffix.go;
apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go and its
pkg/apiserver/validation/formats.go;
apimachinery/pkg/util/validation/ip.go, GetWarningsForIP and GetWarningsForCIDR
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from reflet.apirules.regular_expressions import linear_engine
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation.networking.addresses import lenient_address, lenient_network
from reflet.apirules.validation.networking.ingresses import CLASS_ANNOTATION
from reflet.gotext.quoting import quoted

Document = Mapping[str, Any]

_DEFINITIONS: Final = "customresourcedefinitions.apiextensions.k8s.io"
_RESERVED_SUFFIX: Final = ".static.k8s.io"


# What is checked in the values of custom resources, by the type that the schema gives them.
_TEXT_FORMATS: Final = frozenset(
    (
        *("bsonobjectid", "byte", "cidr", "creditcard", "date", "datetime", "duration", "email"),
        *("hexcolor", "hostname", "ipv4", "ipv6", "isbn", "isbn10", "isbn13", "k8slongname"),
        *("k8sshortname", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4"),
        "uuid5",
    )
)
_FORMATS: Final[Mapping[str, frozenset[str]]] = {
    "": _TEXT_FORMATS,
    "string": _TEXT_FORMATS,
    "integer": frozenset({"int32", "int64"}),
    "number": frozenset({"float", "double"}),
}


def warnings_of(
    kind: ServedKind,
    document: Document,
    *,
    subresource: str = "",
    is_new: bool = False,
    old: Document | None = None,
) -> list[str]:
    """Give the warnings about an object that passed validation; ``old`` is what it replaces."""
    if kind.custom is not None:
        return []
    place = f"{kind.storage_key}/{subresource}" if subresource else kind.storage_key
    found = list(_ALWAYS.get(place, _none)(document))
    if is_new:
        found += _WHEN_NEW.get(place, _none)(document)
    if place == _DEFINITIONS:
        found += _unrecognized_formats(document, old or {})
    return found


def _none(_: Document) -> Iterator[str]:
    return iter(())


def _ingress(document: Document) -> Iterator[str]:
    annotations = document["metadata"].get("annotations") or {}
    if CLASS_ANNOTATION in annotations and document["spec"].get("ingressClassName") is None:
        yield (
            f"annotation {quoted(CLASS_ANNOTATION)} is deprecated, please use "
            "'spec.ingressClassName' instead"
        )


def _ingress_status(document: Document) -> Iterator[str]:
    points = ((document.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    for index, point in enumerate(points):
        address = lenient_address(point.get("ip", ""))
        if address is not None and address.version == 6 and str(address) != point["ip"]:
            yield (
                f"status.loadBalancer.ingress[{index}]: IPv6 address {quoted(point['ip'])} should "
                f"be in RFC 5952 canonical format ({quoted(str(address))})"
            )


def _network_policy(document: Document) -> Iterator[str]:
    for rules, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(document["spec"].get(rules) or ()):
            for number, peer in enumerate(rule.get(peers) or ()):
                here = f"spec.{rules}[{index}].{peers}[{number}].ipBlock"
                block = peer.get("ipBlock") or {}
                yield from _network(block.get("cidr", ""), f"{here}.cidr")
                for place, text in enumerate(block.get("except") or ()):
                    yield from _network(text, f"{here}.except[{place}]")


def _webhooks(document: Document) -> Iterator[str]:
    """Say what is different here; the real server evaluates the conditions, and says nothing."""
    for index, webhook in enumerate(document.get("webhooks") or ()):
        if webhook.get("matchConditions"):
            yield (
                f"webhooks[{index}].matchConditions: this development server does not evaluate "
                "them; the webhook is called as if all of them held"
            )


def _network(text: str, path: str) -> Iterator[str]:
    network = lenient_network(text)
    if network is not None and network.version == 6 and str(network) != text:
        yield (
            f"{path}: IPv6 CIDR value {quoted(text)} should be in RFC 5952 canonical format "
            f"({quoted(str(network))})"
        )


def _reserved_name(document: Document) -> Iterator[str]:
    if document["metadata"].get("name", "").endswith(_RESERVED_SUFFIX):
        yield (
            f"metadata.name: names ending with {quoted(_RESERVED_SUFFIX)} are reserved for static "
            "manifest-based configurations and cannot be managed via the API"
        )


def _definition(document: Document) -> Iterator[str]:
    if linear_engine() is not None:
        return iter(())
    # Slow to import, and most processes see no definition.
    from reflet.apirules.validation.custom.definition_rules import (  # noqa: PLC0415 - see above
        definition_warnings,
    )

    return definition_warnings(document)


def _unrecognized_formats(definition: Document, old: Document) -> Iterator[str]:
    known = set(_formats_of(old))
    for text in dict.fromkeys(_formats_of(definition)):
        if text not in known:
            yield f"unrecognized format {quoted(text)}"


def _formats_of(definition: Document) -> Iterator[str]:
    for version in (definition.get("spec") or {}).get("versions") or ():
        yield from _formats_in((version.get("schema") or {}).get("openAPIV3Schema"))


def _formats_in(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    text, sort = schema.get("format") or "", schema.get("type") or ""
    written = text.replace("-", "") if sort in {"", "string"} else text
    if text and written not in _FORMATS.get(sort, frozenset()):
        yield text
    for name in ("items", "not", "additionalProperties"):
        yield from _formats_in(schema.get(name))
    for name in ("allOf", "anyOf", "oneOf"):
        for inner in schema.get(name) or ():
            yield from _formats_in(inner)
    for inner in (schema.get("properties") or {}).values():
        yield from _formats_in(inner)


Warn = Callable[[Document], Iterator[str]]
_ALWAYS: Final[Mapping[str, Warn]] = {
    "networkpolicies.networking.k8s.io": _network_policy,
    "ingresses.networking.k8s.io/status": _ingress_status,
    **{
        f"{sort}{what}": _reserved_name
        for sort in ("mutating", "validating")
        for what in (
            "admissionpolicies.admissionregistration.k8s.io",
            "admissionpolicies.admissionregistration.k8s.io/status",
            "admissionpolicybindings.admissionregistration.k8s.io",
            "webhookconfigurations.admissionregistration.k8s.io",
        )
    },
    _DEFINITIONS: _definition,
}
_WHEN_NEW: Final[Mapping[str, Warn]] = {
    "ingresses.networking.k8s.io": _ingress,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _webhooks,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _webhooks,
}
