"""Namespace, ServiceAccount, Event and Lease: kinds too small for a file each.

Event is the core group's, what happened to an object; events of a watch stream are another thing
(``api.watch_events``).

Upstream: k8s.io/api/core/v1/types.go, Namespace, ServiceAccount, Event;
    k8s.io/api/coordination/v1/types.go, Lease
"""

from typing import ClassVar, Literal

from reflet.api.frozen import Frozen, constant
from reflet.api.meta import (
    Condition,
    LocalObjectReference,
    MicroTime,
    ObjectMeta,
    ObjectReference,
    Time,
    TypedObject,
)


class NamespaceSpec(Frozen, frozen=True, kw_only=True):
    """Who has to finish before the namespace goes away."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(Frozen, frozen=True, kw_only=True):
    """Active or Terminating, and why it still is."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(TypedObject, frozen=True, kw_only=True):
    """A scope for the names of objects."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Namespace"] = constant("Namespace")
    metadata: ObjectMeta = ObjectMeta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ServiceAccount(TypedObject, frozen=True, kw_only=True):
    """An identity for pods."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["ServiceAccount"] = constant("ServiceAccount")
    metadata: ObjectMeta = ObjectMeta()
    secrets: tuple[ObjectReference, ...] = ()
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    automount_service_account_token: bool | None = None


class EventSource(Frozen, frozen=True, kw_only=True):
    """Who noticed."""

    component: str = ""
    host: str = ""


class EventSeries(Frozen, frozen=True, kw_only=True):
    """How often it went on happening."""

    count: int = 0
    last_observed_time: MicroTime | None = None


class Event(TypedObject, frozen=True, kw_only=True):
    """Something that happened to ``involved_object``."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Event"] = constant("Event")
    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    count: int = 0
    type: str = ""
    event_time: MicroTime | None = None
    series: EventSeries | None = None
    action: str = ""
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""


class LeaseSpec(Frozen, frozen=True, kw_only=True):
    """The holder and the times of a lease."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(TypedObject, frozen=True, kw_only=True):
    """A role that one holder has at a time."""

    complete: ClassVar[bool] = True

    api_version: Literal["coordination.k8s.io/v1"] = constant("coordination.k8s.io/v1")
    kind: Literal["Lease"] = constant("Lease")
    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()
