"""The verbs get, list and watch: which objects, at which version, in which pages.

Upstream: apiserver/pkg/endpoints/handlers/get.go; apiserver/pkg/storage/etcd3/store.go, GetList;
apiserver/pkg/storage/cacher/cacher.go, GetList and Watch
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reflet.apirules import refusals
from reflet.apirules.schema.decoding import empty_object
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.printing.answers import ListAnswer, ObjectAnswer
from reflet.devserver.request.continue_tokens import (
    INCONSISTENT,
    Continuation,
    read_token,
    write_token,
)
from reflet.devserver.request.request_options import ListQuery, read_list_version, read_version
from reflet.devserver.request.selection import SelectionPredicate, selection
from reflet.devserver.storage.storage import Storage, wait_until_fresh
from reflet.devserver.storage.stored import Key, Stored
from reflet.devserver.verbs.state import State
from reflet.devserver.watches.event_lines import Representation, WatchRequest
from reflet.devserver.watches.watch_feed import WatchFeed
from reflet.errors import Expired


def key_of(kind: ServedKind, namespace: str | None, name: str) -> Key:
    """Give the key of an object."""
    return Key(kind.storage_key, (namespace or "") if kind.namespaced else "", name)


def find(storage: Storage, kind: ServedKind, namespace: str | None, name: str) -> Stored:
    """Find an object or refuse."""
    stored = storage.get(key_of(kind, namespace, name))
    if stored is None:
        raise refusals.not_found(kind.plural, name, group=kind.group)
    return stored


async def get(
    storage: Storage, kind: ServedKind, namespace: str | None, name: str, version: str = ""
) -> ObjectAnswer:
    """Answer with one object, at least as new as a version."""
    await wait_until_fresh(storage, read_version(version))
    return ObjectAnswer.of(kind, find(storage, kind, namespace, name))


async def list_objects(
    storage: Storage, kind: ServedKind, namespace: str | None, query: ListQuery
) -> ListAnswer:
    """Answer with the objects of a collection, all or a page."""
    chosen = selection(kind, query.labels, query.fields)
    if query.continue_:
        return _next_page(storage, kind, namespace, query, chosen)
    asked = read_list_version(query.resource_version)
    await wait_until_fresh(storage, asked)
    is_exact = query.match == "Exact" or (not query.match and asked > 0 and query.limit > 0)
    revision = asked if is_exact else storage.revision
    if is_exact:
        objects: Sequence[Stored] = storage.list_at(kind.storage_key, namespace, asked)
    else:
        objects = _narrowed(storage, kind, namespace, chosen)
    # The real server answers from memory here, and its memory knows no pages.
    limit = 0 if query.resource_version == "0" and query.match != "Exact" else query.limit
    return _page(kind, objects, revision, limit, chosen)


def _narrowed(
    storage: Storage, kind: ServedKind, namespace: str | None, chosen: SelectionPredicate
) -> Sequence[Stored]:
    """Give the objects that may match, without looking at all of them where one name is meant."""
    if chosen.name is not None and (namespace is not None or not kind.namespaced):
        stored = storage.get(key_of(kind, namespace, chosen.name))
        return () if stored is None else (stored,)
    return storage.list(kind.storage_key, namespace)


def _next_page(
    storage: Storage,
    kind: ServedKind,
    namespace: str | None,
    query: ListQuery,
    chosen: SelectionPredicate,
) -> ListAnswer:
    continuation = read_token(query.continue_)
    if query.resource_version not in {"", "0"}:
        raise refusals.bad_request("specifying resource version is not allowed when using continue")
    revision = continuation.revision
    if revision == INCONSISTENT:
        revision = storage.revision
    try:
        objects = storage.list_at(kind.storage_key, namespace, revision)
    except Expired:
        again = Continuation(INCONSISTENT, continuation.after)
        raise refusals.expired_continue(write_token(again)) from None
    rest = [stored for stored in objects if stored.key.path > continuation.after]
    return _page(kind, rest, revision, query.limit, chosen)


def _page(
    kind: ServedKind,
    objects: Sequence[Stored],
    revision: int,
    limit: int,
    chosen: SelectionPredicate,
) -> ListAnswer:
    matches = chosen.matches
    items: list[Stored] = []
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    for index, stored in enumerate(objects):
        if matches is not None and not matches(stored.object):
            continue
        items.append(stored)
        left = len(objects) - index - 1
        if limit and len(items) == limit and left:
            metadata["continue"] = write_token(Continuation(revision, stored.key.path))
            if chosen.selects_everything:
                metadata["remainingItemCount"] = left
            break
    return ListAnswer(kind, items, metadata)


def open_watch(
    state: State,
    kind: ServedKind,
    namespace: str | None,
    name: str,
    query: ListQuery,
    *,
    representation: Representation,
) -> WatchFeed:
    """Make the feed of a watch; ``name`` is empty unless the path names one object."""
    chosen = selection(kind, query.labels, query.fields)
    return state.watchers.open(
        WatchRequest(
            resource=kind.storage_key,
            blank=blank(kind),
            namespace=namespace if kind.namespaced else None,
            name=name or chosen.name,
            matches=chosen.matches,
            resource_version=read_version(query.resource_version),
            send_initial_events=query.send_initial_events,
            bookmarks=query.bookmarks,
            timeout=query.timeout or None,
            representation=representation,
        )
    )


def blank(kind: ServedKind) -> dict[str, Any]:
    """Give an object of a kind with nothing in it but what the server always writes."""
    made: dict[str, Any] = {}
    structure = kind.schema.structure
    if kind.custom is None and structure is not None:
        made = empty_object(structure)
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}} | {
        field: value
        for field, value in made.items()
        if field not in {"kind", "apiVersion", "metadata"}
    }
