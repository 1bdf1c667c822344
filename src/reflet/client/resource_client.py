"""The verbs for one resource, in one namespace or in all.

Upstream: client-go/gentype/type.go, Client; client-go/dynamic/simple.go
"""

from __future__ import annotations

from typing import TypeVar, overload

from reflet.api.codec import decode, encode
from reflet.api.meta import KubernetesObject
from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    UpdateOptions,
)
from reflet.api.status import Status
from reflet.client.resource_reader import Answered, ResourceReader, Whole
from reflet.client.rest import AnswerHead
from reflet.client.sent_objects import Body, PatchBody, checked_json, loses_fields, name_of
from reflet.errors import ConfigurationError

T = TypeVar("T", bound=KubernetesObject)


class ResourceClient(ResourceReader[T]):
    """Get, list, watch and change the objects of one resource.

    *namespace* is None for resources without namespaces; None and ``ALL_NAMESPACES`` list and watch
    all namespaces.  Objects come out as *kind*; what goes in may be such an object or a plain
    mapping.  With *subresource* a verb is about a part of an object, and gives what the server
    answers: the object for ``status``, a Status for ``binding`` and ``eviction``, an AnyObject for
    ``scale`` and whatever else is of another kind.  A client whose *kind* is AnyObject gives
    nothing else.  Every method raises ApiError when the server refuses and TransportError when it
    does not answer.  ``gate`` is for callers that want to wait: a method itself never does.
    """

    @overload
    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None,
    ) -> Answered[T]: ...

    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Create an object; the answer is what the server made of it.

        An object of a class is checked against it first: DecodeError names the field that does
        not fit, here and in ``replace`` and ``apply``.

        With *name* and *subresource*, create that part of an existing object.

        - *body*: the object, or a plain mapping
        """
        data = await self._send(
            "create",
            "POST",
            name,
            options.query(),
            body=checked_json(body),
            subresource=subresource,
        )
        return self._answered(data, subresource)

    @overload
    async def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: Whole = None
    ) -> T: ...

    @overload
    async def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: str | None
    ) -> Answered[T]: ...

    async def replace(
        self,
        body: Body[T],
        options: UpdateOptions = UpdateOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Write the whole object; Conflict when it carries a version that is no longer current.

        Refuses a typed object that keeps only some of its kind's fields: the others would be
        lost on the server.  Use ``patch``, or read the object raw.

        - *body*: the object, or a plain mapping
        """
        if loses_fields(body):
            raise ConfigurationError(
                f"a typed {self.resource.kind} does not hold every field, so writing it back would "
                "lose the others: use patch, or get and replace it raw; a class of your own that "
                "has them all says `complete: ClassVar[bool] = True`"
            )
        data = await self._send(
            "update",
            "PUT",
            name_of(body),
            options.query(),
            body=checked_json(body),
            subresource=subresource,
        )
        return self._answered(data, subresource)

    @overload
    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None,
    ) -> Answered[T]: ...

    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Change an object by a patch: a mapping, or a sequence of operations for a JSON patch.

        - *name*: name of the object
        - *patch*: the changes, in the form of *patch_type*
        - *patch_type*: JSON merge patch unless given
        """
        return await self._patch(name, encode(patch), patch_type, options, subresource)

    async def _patch(
        self,
        name: str,
        body: bytes,
        patch_type: PatchType,
        options: PatchOptions,
        subresource: str | None,
    ) -> Answered[T]:
        data = await self._send(
            "patch",
            "PATCH",
            name,
            options.query(),
            body=body,
            content_type=patch_type.value,
            subresource=subresource,
        )
        return self._answered(data, subresource)

    @overload
    async def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: Whole = None
    ) -> T: ...

    @overload
    async def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: str | None
    ) -> Answered[T]: ...

    async def apply(
        self,
        body: Body[T],
        *,
        field_manager: str,
        force: bool = False,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Server-side apply: own the fields of *body*; Conflict when others own some of them.

        - *field_manager*: who owns the fields from now on: the name of this program
        - *force*: whether to take fields over that others own, instead of a Conflict
        """
        return await self._patch(
            name_of(body),
            checked_json(body),
            PatchType.APPLY,
            PatchOptions(field_manager=field_manager, force=force),
            subresource,
        )

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | Status:
        """Delete an object; the answer is its last state while it lingers, else a Status.

        - *name*: name of the object
        """
        data = await self._send("delete", "DELETE", name, (), body=options.body())
        if decode(data, AnswerHead).kind == "Status":
            return decode(data, Status)
        return self._decoded(data)

    async def delete_collection(
        self,
        selected: ListOptions = ListOptions(),
        options: DeleteOptions = DeleteOptions(),
    ) -> None:
        """Delete every object that *selected* selects."""
        await self._send(
            "deletecollection",
            "DELETE",
            None,
            selected.query(),
            body=options.body(),
        )
