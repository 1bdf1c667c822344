"""The scheme: which struct stands for which kind.

A table from (apiVersion, kind) to struct.  Structs are imported when they are first asked for.

Upstream: apimachinery/pkg/runtime/scheme.go, Scheme
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from reflet.api.json_reader import fields_of
from reflet.api.meta import TypedObject
from reflet.api.unstructured import AnyObject

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


@cache
def identity(struct: type[TypedObject]) -> tuple[str, str]:
    """Return the apiVersion and kind that a struct stands for."""
    fields = fields_of(struct)
    return get_args(fields["apiVersion"])[0], get_args(fields["kind"])[0]
