"""The verbs delete and deletecollection, and how objects go.

Preconditions, finalizers, the grace of pods, what goes with a namespace or a definition.

Different from the real server, where controllers do the rest, as long as none play here: a
namespace is emptied and removed at once; a pod goes at once unless a grace period is asked for or
its node is ready, and so has somebody who ends the wait; dependents stay, whatever the propagation
policy.  A definition always goes at once with all its objects.

Upstream: apiserver/pkg/registry/rest/delete.go, BeforeDelete;
apiserver/pkg/registry/generic/registry/store.go, Delete, DeleteCollection and
deletionFinalizersForGarbageCollection; pkg/registry/core/namespace/storage/storage.go, Delete;
pkg/registry/core/pod/strategy.go, CheckGracefulDelete
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.authorization.node_restriction import AttemptedWrite
from reflet.devserver.printing.answers import Answer, DocumentAnswer, ListAnswer, ObjectAnswer
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.request_options import DeleteOptions, ListQuery
from reflet.devserver.storage.stored import Key, Stored
from reflet.devserver.verbs.reading import find, list_objects
from reflet.devserver.verbs.state import DEFINITIONS, NAMESPACES, State
from reflet.gotext.times import time_text

Document = dict[str, Any]

IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
NODES: Final = "nodes"
PODS: Final = "pods"
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"

# Kinds whose dependents stay unless somebody says otherwise, and those that have none.
_ORPHANED_BY_DEFAULT: Final = frozenset({"jobs.batch", "replicationcontrollers"})
_WITHOUT_DEPENDENTS: Final = frozenset({"events", NAMESPACES})
_PROPAGATION: Final = {"Orphan": ORPHAN, "Foreground": FOREGROUND, "Background": ""}

# Kinds that answer a delete with the object and not with a Status.
_SHOWN_WHEN_DELETED: Final = frozenset(
    {
        *(PODS, "podtemplates", "resourcequotas", "serviceaccounts", "services"),
        *("persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"),
        *(NAMESPACES, DEFINITIONS),
        *(
            f"{plural}.storage.k8s.io"
            for plural in ("csidrivers", "csinodes", "volumeattachments", "volumeattributesclasses")
        ),
        *(
            f"{plural}.resource.k8s.io"
            for plural in (
                *("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
            )
        ),
    }
)


def delete(
    state: State,
    kind: ServedKind,
    namespace: str | None,
    name: str,
    options: DeleteOptions,
    *,
    user: UserInfo | None = None,
) -> Answer:
    """Delete one object, or begin to, and say what became of it.

    ``user`` is who wants it to go, if that is still to be admitted.
    """
    stored = find(state.storage, kind, namespace, name)
    check_deletable(state, kind, stored, options, user)
    last, is_gone = _gone(state, kind, stored, options)
    if is_gone and kind.storage_key not in _SHOWN_WHEN_DELETED:
        uid = stored.object["metadata"].get("uid", "")
        return DocumentAnswer(
            refusals.success(name=name, group=kind.group, kind=kind.plural, uid=uid)
        )
    return ObjectAnswer(kind, last)


async def delete_collection(
    state: State,
    kind: ServedKind,
    namespace: str | None,
    query: ListQuery,
    options: DeleteOptions,
    *,
    admit: Callable[[Stored], Awaitable[None]],
) -> ListAnswer:
    """Delete the objects that a list would show, and show them; ``admit`` is asked for each."""
    listed = await list_objects(state.storage, kind, namespace, query)
    for stored in listed.items:
        await admit(stored)
        present = state.storage.get(stored.key)
        if present is not None:
            check_deletable(state, kind, present, options, None)
            _gone(state, kind, present, options)
    return listed


def check_deletable(
    state: State, kind: ServedKind, stored: Stored, options: DeleteOptions, user: UserInfo | None
) -> None:
    """Refuse to delete what is not meant, what a user may not delete, and what may never go."""
    _check_preconditions(kind, stored, options)
    name = stored.key.name
    if user is not None:
        place = (kind, name, stored.key.namespace)
        state.admit(AttemptedWrite("DELETE", *place, {}, stored.object, "", user))
    if kind.storage_key == NAMESPACES and name in IMMORTAL:
        raise refusals.forbidden(NAMESPACES, name, "this namespace may not be deleted")


def _check_preconditions(kind: ServedKind, stored: Stored, options: DeleteOptions) -> None:
    uid, name = stored.object["metadata"].get("uid"), stored.key.name
    if options.uid is not None and options.uid != uid:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({uid}). The object might have been deleted and then recreated"
        )
        raise refusals.conflict(kind.kind, name, why, group=kind.group)
    version = options.resource_version
    if version is not None and version != str(stored.revision):
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the "
            f"ResourceVersion in record ({stored.revision}). The object might have been modified"
        )
        raise refusals.conflict(kind.kind, name, why, group=kind.group)


def _gone(
    state: State, kind: ServedKind, stored: Stored, options: DeleteOptions
) -> tuple[Document, bool]:
    """Let an object go as far as it can; give its last state, and whether it is gone."""
    grace = _grace(state, kind, stored.object, options)
    marked = _marked(state, kind, stored.object, grace)
    if state.companion.collects_garbage and kind.storage_key not in _WITHOUT_DEPENDENTS:
        marked = _propagated(kind, marked, options.propagation)
    finalizers = marked["metadata"].get("finalizers")
    if options.dry_run:
        return marked, not finalizers and not grace
    if kind.storage_key == NAMESPACES:
        return _namespace_gone(state, stored, marked)
    if kind.storage_key == DEFINITIONS:
        _remove_custom_objects(state, stored.key.name)
    if finalizers or grace:
        return state.storage.replace(stored.key, marked).object, False
    if kind.storage_key == PODS:
        # As in the real server, watchers see a pod that is going before it is gone.
        marked = state.storage.replace(stored.key, marked).object
    state.storage.delete(stored.key)
    return marked if kind.storage_key in {PODS, DEFINITIONS} else stored.object, True


def _propagated(kind: ServedKind, document: Document, policy: str) -> Document:
    """Let the garbage collector hold an object until it has been with its dependents."""
    metadata = document["metadata"]
    before = metadata.get("finalizers") or []
    held = [each for each in before if each in {ORPHAN, FOREGROUND}]
    if policy:
        wanted = [_PROPAGATION[policy]] if _PROPAGATION[policy] else []
    elif held or kind.storage_key not in _ORPHANED_BY_DEFAULT:
        wanted = held
    else:
        wanted = [ORPHAN]
    if wanted == held:
        return document
    finalizers = [*(each for each in before if each not in held), *wanted]
    kept = {name: value for name, value in metadata.items() if name != "finalizers"}
    if finalizers:
        kept["finalizers"] = finalizers
    return {**document, "metadata": kept}


def _grace(state: State, kind: ServedKind, document: Document, options: DeleteOptions) -> int:
    """Give the seconds that a pod may still take; a pod that nobody runs takes none."""
    if kind.storage_key != PODS:
        return 0
    spec = document.get("spec", {})
    node = spec.get("nodeName")
    if not node or document.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
        return 0
    asked = options.grace_seconds
    if asked is None and _is_ready(state, node):
        asked = spec.get("terminationGracePeriodSeconds")
    if asked is None:
        return 0
    seconds = max(asked, 0) if asked >= 0 else 1
    already = document["metadata"].get("deletionGracePeriodSeconds")
    return seconds if already is None else min(seconds, already)


def _is_ready(state: State, node: str) -> bool:
    """Say whether an agent looks after a node, and so will end the pods that go."""
    stored = state.storage.get(Key(NODES, "", node))
    conditions = () if stored is None else stored.object.get("status", {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _marked(state: State, kind: ServedKind, document: Document, grace: int) -> Document:
    """Say in an object's metadata that it is going; unchanged if it says so already."""
    metadata = document["metadata"]
    if "deletionTimestamp" in metadata:
        before = metadata.get("deletionGracePeriodSeconds", 0)
        if grace >= before:
            return document
        shorter = {"deletionGracePeriodSeconds": grace, "deletionTimestamp": _moment(state, grace)}
        return {**document, "metadata": {**metadata, **shorter}}
    added: Document = {"deletionTimestamp": _moment(state, grace)}
    if kind.storage_key not in {NAMESPACES, DEFINITIONS}:
        added["deletionGracePeriodSeconds"] = grace
    if kind.storage_key != DEFINITIONS and "generation" in metadata:
        added["generation"] = metadata["generation"] + 1
    return {**document, "metadata": {**metadata, **added}}


def _moment(state: State, seconds: int) -> str:
    return time_text(state.now() + timedelta(seconds=seconds))


def _namespace_gone(state: State, stored: Stored, marked: Document) -> tuple[Document, bool]:
    status = {**marked.get("status", {}), "phase": "Terminating"}
    last = state.storage.replace(stored.key, {**marked, "status": status}).object
    name = stored.key.name
    if state.companion.ends_namespaces and last.get("spec", {}).get("finalizers"):
        return last, False
    with state.emptying(name):
        for key in state.contents_of(name):
            _remove(state, key)
    return last, state.storage.get(stored.key) is None


def _remove_custom_objects(state: State, definition: str) -> None:
    for kind in tuple(state.kinds):
        if kind.custom is not None and kind.custom.definition == definition:
            for stored in state.storage.list(kind.storage_key):
                _remove(state, stored.key)


def _remove(state: State, key: Key) -> None:
    """Remove an object for a reason of the server's own; finalizers hold it."""
    stored = state.storage.get(key)
    kind = state.kinds.by_storage_key(key.resource)
    if stored is not None and kind is not None:
        _gone(state, kind, stored, DeleteOptions())


def finish(state: State, kind: ServedKind, key: Key, document: Document) -> bool:
    """Remove an object that is going and that nobody holds any longer; say whether it was so.

    ``document`` is its new state, which is not stored.
    """
    metadata = document["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if metadata.get("deletionGracePeriodSeconds"):
        return False
    if kind.storage_key == NAMESPACES:
        is_released = not document.get("spec", {}).get("finalizers")
        is_held = state.companion.ends_namespaces or state.contents_of(key.name)
        if not is_released and is_held:
            return False
    state.storage.delete(key)
    return True
