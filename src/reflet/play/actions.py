"""What a controller may do, as data, and the one place where it is done.

Decisions are lists of these; nobody else of the room writes to the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from reflet.api.options import CreateOptions, DeleteOptions, PropagationPolicy, UpdateOptions
from reflet.api.resource_versions import number_of
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import Forbidden, NotFound

Document: TypeAlias = Mapping[str, Any]
MANAGER: Final = "reflet-play"


@dataclass(frozen=True, slots=True)
class Save:
    """Make an object, or replace the version that was decided upon: if the document names one."""

    resource: Resource
    document: Document
    subresource: str | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object, if it is still the one with that uid."""

    resource: Resource
    document: Document
    policy: PropagationPolicy | None = None
    grace: int | None = None


Action: TypeAlias = Save | Delete


class Plan(NamedTuple):
    """What is to be done now, all at once, and in how many seconds to look again."""

    actions: Sequence[Action] = ()
    again: float | None = None


def status_saved(resource: Resource, document: Document, status: Document) -> list[Action]:
    """Write the status, if it says something new."""
    if document.get("status", {}) == status:
        return []
    return [Save(resource, {**document, "status": status}, "status")]


def with_metadata(document: Document, **changed: Any) -> dict[str, Any]:
    """The document with other metadata."""
    return {**document, "metadata": {**document["metadata"], **changed}}


async def perform(client: Client, action: Action) -> int:
    """Do it, and give the version that the server has now; 0 where it does not say.

    What has gone meanwhile, or goes with its namespace, needs nothing: the view will show it.
    """
    metadata, made = action.document["metadata"], None
    objects = client.resource(action.resource, namespace=metadata.get("namespace"), raw=True)
    try:
        match action:
            case Delete(policy=policy, grace=grace):
                options = DeleteOptions(
                    propagation_policy=policy, grace_period_seconds=grace, uid=metadata["uid"]
                )
                made = await objects.delete(metadata["name"], options)
            case Save(document=document, subresource=part) if "resourceVersion" in metadata:
                update = UpdateOptions(field_manager=MANAGER)
                made = await objects.replace(document, update, subresource=part)
            case Save(document=document, subresource=part):
                name = metadata["name"] if part else None
                create = CreateOptions(field_manager=MANAGER)
                made = await objects.create(document, create, name=name, subresource=part)
    except NotFound:
        return 0
    except Forbidden as error:
        if "because it is being terminated" not in error.message:
            raise
        return 0
    return number_of(made.metadata.resource_version) or 0 if isinstance(made, AnyObject) else 0
