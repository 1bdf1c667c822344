"""Templates of pods inside objects of kinds that are not known: by their shape, or by a schema.

A template is a mapping below ``spec`` whose own ``spec.containers`` is a list of mappings, one of
which has an ``image``: no other thing has that shape, and operators that only overlay a template
of their own leave the image out.  Where the kind's schema is known and has the fields of a
template, the overlay counts too.  Not looked into are whole objects inside an object, as
compositions hold them, which may be for another cluster, and values of Helm charts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from reflet.api import codec
from reflet.api.core.pods import PodTemplateSpec
from reflet.api.field_path import with_field, with_index, with_key
from reflet.api.frozen import thaw
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError
from reflet.resolution.templates.templates import CustomWorkload, PlacedTemplate

Fill = Callable[[dict[str, Any]], dict[str, Any]]
"""Gives a template what the API server gives to pods; raises DecodeError for what is none."""

_KNATIVE: Final = "serving.knative.dev/"
_DEEPEST: Final = 40  # steps; deeper than any template that people write
_CHART_VALUES: Final = frozenset({"values", "valuesObject"})
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def custom_workload_of(
    item: AnyObject, fill: Fill, *, schema: Mapping[str, Any] | None = None
) -> CustomWorkload | None:
    """Return the object as what makes pods, or ``None`` when it has no template.

    ``schema`` is the kind's OpenAPI schema, if it is known.  Raises DecodeError when it has
    templates and not one can be read.
    """
    placed, unreadable = [], []
    for path, template in _templates(item, schema or {}):
        try:
            made = fill(_named(item, thaw(template)))
            read = codec.decode(msgspec.json.encode(made), PodTemplateSpec)
        except DecodeError as error:
            unreadable.append(f"the template at {path} cannot be read: {error}")
        else:
            placed.append(PlacedTemplate(path=path, template=read))
    if placed:
        return CustomWorkload(
            api_version=item.api_version,
            kind=item.kind,
            metadata=item.metadata,
            templates=tuple(placed),
            unreadable=tuple(unreadable),
        )
    if unreadable:
        raise DecodeError(f"{item.kind} {item.metadata.name}: {unreadable[0]}")
    return None


def no_template(item: AnyObject) -> str:
    """Say that an object has no template, and where its pods come from if it tells."""
    name = f"{item.kind.lower()} {item.metadata.name}"
    reference = item.spec.get("workloadRef")
    if isinstance(reference, Mapping) and reference.get("name"):
        kind = str(reference.get("kind") or "Deployment")
        other = f"{kind.lower()}/{reference['name']}"
        return f"{name} takes its pod template from {other} (spec.workloadRef): ask for that"
    return f"{name} has no pod template"


def guessed_resource(api_version: str, kind: str) -> Resource:
    """Return the resource of a kind by the usual plural, as nobody knows better.

    Upstream: apimachinery/pkg/api/meta/restmapper.go, UnsafeGuessKindToResource
    """
    group, _, version = api_version.rpartition("/")
    singular = kind.lower()
    if singular.endswith("s"):
        plural = f"{singular}es"
    elif singular.endswith("y"):
        plural = f"{singular[:-1]}ies"
    else:
        plural = f"{singular}s"
    return Resource(group=group, version=version, plural=plural, kind=kind)


def _templates(
    item: AnyObject, schema: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    spec = item.content.get("spec")
    yield from _below(spec, _property(schema, "spec"), "spec", _DEEPEST)


def _below(
    value: Any, schema: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not depth:
        return
    if isinstance(value, Mapping):
        if isinstance(value.get("apiVersion"), str) and isinstance(value.get("kind"), str):
            return
        if _is_template(value, schema):
            yield path, value
            return
        for name, inner in value.items():
            if name not in _CHART_VALUES:
                yield from _below(inner, _property(schema, name), _joined(path, name), depth - 1)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        items = schema.get("items")
        inside = items if isinstance(items, Mapping) else {}
        for index, inner in enumerate(value):
            yield from _below(inner, inside, with_index(path, index), depth - 1)


def _is_template(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    spec = value.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    if not isinstance(containers, Sequence) or isinstance(containers, str) or not containers:
        return False
    if not all(isinstance(each, Mapping) for each in containers):
        return False
    if any(isinstance(each.get("image"), str) and each["image"] for each in containers):
        return True
    # A schema knows better than a shape.
    known = _property(_property(schema, "spec"), "containers").get("items")
    return isinstance(known, Mapping) and "image" in (known.get("properties") or {})


def _property(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    properties = schema.get("properties")
    found = properties.get(name) if isinstance(properties, Mapping) else None
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, Mapping) else {}


def _joined(path: str, name: str) -> str:
    return with_field(path, name) if _PLAIN.issuperset(name) else with_key(path, name)


def _named(item: AnyObject, template: dict[str, Any]) -> dict[str, Any]:
    """Give containers the names that Knative gives; of others, nothing is made up."""
    if item.api_version.startswith(_KNATIVE):
        containers = template["spec"]["containers"]
        for index, each in enumerate(containers):
            numbered = f"-{index}" if len(containers) > 1 else ""
            each.setdefault("name", f"user-container{numbered}")
    return template
