"""Writes that every controller makes: again after a conflict, finalizers, conditions, owners.

Upstream: client-go/util/retry/util.go, RetryOnConflict; controller-runtime/pkg/controller/
controllerutil/controllerutil.go; apimachinery/pkg/api/meta/conditions.go, SetStatusCondition
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from msgspec import json

from reflet.api import scheme
from reflet.api.codec import encode
from reflet.api.meta import KubernetesObject, OwnerReference, TypedObject
from reflet.api.resources import Resource
from reflet.api.unstructured import AnyObject
from reflet.client.resource_client import ResourceClient
from reflet.errors import ConfigurationError, Conflict, Forbidden, NotFound
from reflet.gotext.times import time_text
from reflet.informer.mirror import Mirror

T = TypeVar("T", bound=KubernetesObject)
Result = TypeVar("Result")

TRIES: Final = 5
PAUSE: Final = 0.01  # seconds, and up to a tenth more


async def retry_on_conflict(
    write: Callable[[], Awaitable[Result]],
    *,
    tries: int = TRIES,
    pause: float = PAUSE,
    chance: Callable[[], float] = random.random,
) -> Result:
    """Call *write* until it raises no Conflict, *tries* times at most; return what it returns.

    *write* reads the object anew each time: the same bytes would conflict again.

    - *pause*: seconds before each retry, and up to a tenth more
    """
    for _ in range(tries - 1):
        try:
            return await write()
        except Conflict:
            await asyncio.sleep(pause * (1 + 0.1 * chance()))
    return await write()


# Finalizers


async def ensure_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> T:
    """Let *finalizer* hold the object, unless it does; return the object as it is then.

    Raises Conflict when the object is not the latest version: somebody else may have changed the
    finalizers, and writing them would take that back.  An object that is going takes no more
    finalizers, and is returned as it is.
    """
    metadata = item.metadata
    if finalizer in metadata.finalizers or metadata.deletion_timestamp is not None:
        return item
    return await _write_finalizers(client, item, (*metadata.finalizers, finalizer))


async def remove_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> T | None:
    """Let go of the object; None when it is gone, by this or already.  Raises Conflict too.

    - *finalizer*: the finalizer to remove
    """
    if finalizer not in item.metadata.finalizers:
        return item
    left = tuple(each for each in item.metadata.finalizers if each != finalizer)
    try:
        written = await _write_finalizers(client, item, left)
    except NotFound:
        return None
    is_gone = written.metadata.deletion_timestamp is not None and not left
    return None if is_gone else written


async def _write_finalizers(client: ResourceClient[T], item: T, wanted: Iterable[str]) -> T:
    metadata = item.metadata
    change = {
        "metadata": {
            "finalizers": list(wanted),
            # Of this very object, not of another that was made under its name meanwhile.
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        }
    }
    return await client.patch(metadata.name, change)


# Conditions


def set_condition(
    conditions: Sequence[Mapping[str, Any]],
    type_: str,
    status: bool | str,
    *,
    reason: str,
    message: str = "",
    observed_generation: int | None = None,
    now: datetime | None = None,
) -> list[dict[str, Any]]:
    """*conditions* with one of them set: in its place if it was there, else at the end.

    Its ``lastTransitionTime`` is that of before as long as the status stays.  *status* may be True,
    False, or a word such as ``Unknown``.

    - *type_*: type of the condition, such as ``Ready``
    - *reason*: one word in CamelCase
    - *message*: one sentence for people
    - *observed_generation*: the ``metadata.generation`` that was looked at; None leaves it out
    - *now*: the moment of a change; None is now
    """
    word = str(status)
    made: dict[str, Any] = {"type": type_, "status": word, "reason": reason, "message": message}
    if observed_generation is not None:
        made["observedGeneration"] = observed_generation
    made["lastTransitionTime"] = time_text(now or datetime.now(UTC))
    written, is_new = [], True
    for each in conditions:
        if each.get("type") != type_:
            written.append(dict(each))
            continue
        is_new = False
        if each.get("status") == word and each.get("lastTransitionTime"):
            made["lastTransitionTime"] = each["lastTransitionTime"]
        written.append({**each, **made})
    return [*written, made] if is_new else written


def condition(type_: str, status: bool | str = True) -> Callable[[Any], bool]:
    """A test for ``wait_for``: whether an object has the condition, and has observed its spec.

    - *type_*: type of the condition, such as ``Available``
    - *status*: the status it must have: True, False, or a word
    """
    word = str(status)

    def holds(item: Any) -> bool:
        if item is None:
            return False
        generation = item.metadata.generation or 0
        content = item.content if isinstance(item, AnyObject) else json.decode(encode(item))
        found = content.get("status") or {}
        if found.get("observedGeneration", generation) < generation:
            return False
        return any(
            (each.get("type"), each.get("status")) == (type_, word)
            and (each.get("observedGeneration") or generation) >= generation
            for each in found.get("conditions") or ()
        )

    return holds


def deleted(item: Any) -> bool:
    """A test for ``wait_for``: whether the object is gone.

    - *item*: the object, or None
    """
    return item is None


async def wait_for(
    client: ResourceClient[T],
    name: str,
    test: Callable[[T | None], bool],
    *,
    timeout: float | None = None,
) -> T | None:
    """Return the object as soon as *test* holds for it; it is given None while there is none.

    Watches, and so misses nothing and asks nothing twice.  Raises TimeoutError after *timeout*
    seconds, and at once what waiting does not fix: Forbidden, and NotFound for a kind that the
    server does not have.  ::

        await wait_for(deployments, "web", condition("Available"), timeout=60)

    - *name*: name of the object
    """
    async with (
        asyncio.timeout(timeout),
        Mirror(
            client,
            client.resource,
            field_selector=f"metadata.name={name}",
        ) as mirror,
    ):
        changes = mirror.changes()
        await mirror.synced(fail_on=(Forbidden, NotFound))
        while True:
            found = mirror.get(name)
            if test(found):
                return found
            await anext(changes)


# Objects


def owner_reference(
    owner: KubernetesObject, *, controller: bool = True, block_owner_deletion: bool | None = None
) -> OwnerReference:
    """The reference that lets an object be deleted with *owner*.

    Only one owner may be the *controller*; that one usually also blocks its own foreground
    deletion until the object is gone.

    - *block_owner_deletion*: None is the same as *controller*
    """
    if not owner.metadata.uid:
        raise ConfigurationError(f"{owner.kind} {owner.metadata.name!r} was not read from a server")
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=controller or None,
        block_owner_deletion=(
            (controller or None) if block_owner_deletion is None else block_owner_deletion
        ),
    )


def applied_object(
    kind: Resource | type[TypedObject],
    name: str,
    *,
    namespace: str | None = None,
    owner: KubernetesObject | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """An object for ``ResourceClient.apply``: the fields that this program wants, and no others.

    ::

        wanted = applied_object(Deployment, "web", owner=widget, spec={"replicas": 3})
        await deployments.apply(wanted, field_manager="my-operator", force=True)

    It is deleted with its *owner*, and is in the same namespace; of a resource without namespaces,
    say ``namespace=""``.

    - *kind*: class of the object, or its resource
    - *name*: name of the object
    - *namespace*: None is that of *owner*; empty for a resource without namespaces
    - *labels*, *annotations*: those that this program wants; None is none
    - *fields*: the other fields by their JSON names, such as ``spec``
    """
    metadata: dict[str, Any] = {"name": name}
    if isinstance(kind, Resource):
        api_version, kind_name = kind.api_version, kind.kind
        namespace = namespace if kind.namespaced else ""
    else:
        api_version, kind_name = scheme.identity(kind)
    if namespace is None and owner is not None:
        namespace = owner.metadata.namespace
    if namespace:
        metadata["namespace"] = namespace
    if owner is not None:
        metadata["ownerReferences"] = [owner_reference(owner)]
    if labels is not None:
        metadata["labels"] = dict(labels)
    if annotations is not None:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind_name, "metadata": metadata, **fields}
