"""Namespaces.

Owns: Namespace.  Must not know what lives in one.
"""

from typing import ClassVar, Literal

from reflet.api.frozen import Frozen, constant
from reflet.api.meta import Condition, ObjectMeta, TypedObject


class NamespaceSpec(Frozen, frozen=True, kw_only=True):
    """Who has to finish before the namespace goes away."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(Frozen, frozen=True, kw_only=True):
    """Active or Terminating, and why it still is."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(TypedObject, frozen=True, kw_only=True):
    """A room for names."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Namespace"] = constant("Namespace")
    metadata: ObjectMeta = ObjectMeta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()
