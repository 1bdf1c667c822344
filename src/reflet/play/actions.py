"""What a controller may do, as data, and the one place where it is done.

Decisions are lists of these; nobody else of the room writes to the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    PatchOptions,
    PatchType,
    PropagationPolicy,
    UpdateOptions,
)
from reflet.api.resource_versions import number_of
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import NotFound

Document = Mapping[str, Any]
MANAGER: Final = "reflet-play"


@dataclass(frozen=True, slots=True)
class Create:
    """Make an object; with *name* and *subresource*, a part of the object of that name."""

    resource: Resource
    document: Document
    name: str | None = None
    subresource: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Replace an object, or its status, if it is still the version that was decided upon."""

    resource: Resource
    document: Document
    subresource: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """Merge into an object: for fields that others do not write."""

    resource: Resource
    of: Document
    patch: Document


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object, if it is still the one with that uid."""

    resource: Resource
    of: Document
    policy: PropagationPolicy | None = None
    grace: int | None = None


Action = Create | Update | Patch | Delete


@dataclass(frozen=True, slots=True)
class NextActions:
    """What is to be done now, in this order, and in how many seconds to look again.

    *at_once* are independent of each other, and done before *actions*.
    """

    actions: Sequence[Action] = ()
    again: float | None = None
    at_once: Sequence[Action] = field(default=())


def status_update(resource: Resource, document: Document, status: Document) -> list[Action]:
    """Write the status, if it says something new."""
    if document.get("status", {}) == status:
        return []
    return [Update(resource, {**document, "status": status}, "status")]


def soonest(*delays: float | None) -> float | None:
    """The shortest of some delays; None is never."""
    return min((delay for delay in delays if delay is not None), default=None)


async def perform(client: Client, action: Action) -> int:
    """Do it, and give the version that the server has now; 0 where it does not say.

    What is gone already need not be deleted.
    """
    metadata = (action.document if isinstance(action, Create | Update) else action.of)["metadata"]
    objects = client.resource(action.resource, namespace=metadata.get("namespace"), raw=True)
    match action:
        case Create():
            made = await objects.create(
                action.document,
                CreateOptions(field_manager=MANAGER),
                name=action.name,
                subresource=action.subresource,
            )
        case Update():
            made = await objects.replace(
                action.document,
                UpdateOptions(field_manager=MANAGER),
                subresource=action.subresource,
            )
        case Patch():
            made = await objects.patch(
                metadata["name"], action.patch, PatchType.MERGE, PatchOptions(field_manager=MANAGER)
            )
        case Delete():
            options = DeleteOptions(
                propagation_policy=action.policy,
                grace_period_seconds=action.grace,
                uid=metadata["uid"],
            )
            try:
                made = await objects.delete(metadata["name"], options)
            except NotFound:
                return 0
        case _:
            assert_never(action)
    return number_of(made.metadata.resource_version) or 0 if isinstance(made, AnyObject) else 0
