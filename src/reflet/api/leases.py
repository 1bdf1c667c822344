"""Leases: who holds a role, and until when.

Owns: Lease.  Must not know how one is won or kept.
"""

from typing import ClassVar, Literal

from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, TypedObject
from reflet.api.micro_time import MicroTime


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
