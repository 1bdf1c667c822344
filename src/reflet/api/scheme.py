"""The scheme: which class stands for which kind.

A table from (apiVersion, kind) to struct for Reflet's own.  Structs are imported when they are
first asked for.  A program's own classes need no table: ``identity`` reads what they say.

Upstream: apimachinery/pkg/runtime/scheme.go, Scheme
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from reflet.api.json_reader import attributes_of
from reflet.api.meta import ObjectMeta, TypedObject
from reflet.api.unstructured import AnyObject
from reflet.errors import ConfigurationError

if TYPE_CHECKING:  # The catalogue is not needed to decode.
    from reflet.api.resources import Resource

MODULES: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("apps/v1", "DaemonSet"): "workloads",
        ("apps/v1", "Deployment"): "workloads",
        ("apps/v1", "ReplicaSet"): "workloads",
        ("apps/v1", "StatefulSet"): "workloads",
        ("batch/v1", "CronJob"): "workloads",
        ("batch/v1", "Job"): "workloads",
        ("coordination.k8s.io/v1", "Lease"): "small_kinds",
        ("v1", "ConfigMap"): "config",
        ("v1", "Event"): "small_kinds",
        ("v1", "Namespace"): "small_kinds",
        ("v1", "Node"): "nodes",
        ("v1", "Pod"): "pods",
        ("v1", "ReplicationController"): "workloads",
        ("v1", "Secret"): "config",
        ("v1", "Service"): "services",
        ("v1", "ServiceAccount"): "small_kinds",
    }
)


@cache
def struct_for(api_version: str, kind: str) -> type[TypedObject] | None:
    """Return the struct of a kind, or ``None`` for a kind that has none."""
    module = MODULES.get((api_version, kind))
    if module is None:
        return None
    struct: type[TypedObject] = getattr(import_module(f"reflet.api.core.{module}"), kind)
    return struct


def class_for(resource: Resource) -> type[TypedObject | AnyObject]:
    """Return the class of a resource's objects: its struct, or ``AnyObject``."""
    return struct_for(resource.api_version, resource.kind) or AnyObject


def identity(kind: type[Any]) -> tuple[str, str]:
    """Return the apiVersion and kind that a class stands for.

    ConfigurationError, which says what to add to the class, when it stands for none.
    """
    found = _identified(kind)
    if isinstance(found, str):
        name = getattr(kind, "__name__", repr(kind))
        raise ConfigurationError(f"{name} cannot stand for a kind: {found}")
    return found


def is_kind(kind: type[Any]) -> bool:
    """Say whether a class stands for whole objects of one kind."""
    return isinstance(_identified(kind), tuple)


_IDENTITIES: Final[dict[type[Any], tuple[str, str] | str]] = {}


def _identified(kind: type[Any]) -> tuple[str, str] | str:
    """The apiVersion and kind of a class, or what it lacks to have them."""
    found = _IDENTITIES.get(kind)
    if found is None:
        found = _IDENTITIES[kind] = _read_identity(kind)
    return found


def _read_identity(kind: type[Any]) -> tuple[str, str] | str:
    try:
        fields = attributes_of(kind)
    except (NameError, TypeError) as error:
        return f"its annotations cannot be read: {error}"
    if fields is None:
        return (
            "it is neither a msgspec.Struct nor a reflet.adapters.pydantic_models.ObjectModel: "
            "give a class, a Resource or a name"
        )
    for name, json_name, example in _IDENTITY:
        found = fields.get(name)
        if found is None:
            return f"it has no field {name}: add {example}"
        if found[0] != json_name:
            return f'its {name} is {found[0]} in JSON, not {json_name}: say rename="camel"'
        if not _says(name, found[1]):
            return f"its {name} does not say which: write {example}"
    return get_args(fields["api_version"][1])[0], get_args(fields["kind"][1])[0]


_IDENTITY: Final = (
    ("api_version", "apiVersion", 'api_version: Literal["example.com/v1"] = "example.com/v1"'),
    ("kind", "kind", 'kind: Literal["Widget"] = "Widget"'),
    ("metadata", "metadata", "metadata: reflet.api.ObjectMeta = reflet.api.ObjectMeta()"),
)


def _says(name: str, annotation: Any) -> bool:
    if name == "metadata":
        return isinstance(annotation, type) and issubclass(annotation, ObjectMeta)
    words = get_args(annotation) if get_origin(annotation) is Literal else ()
    return len(words) == 1 and isinstance(words[0], str)
