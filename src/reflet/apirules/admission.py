"""What a create or an update stores: names, identity, times, generation, spec apart from status.

Whatever the kind; what single kinds need besides is in kind_strategies.py.  Objects come in as
``strict_decoding.check_body`` gives them and are not changed; results are new, and are still to
be validated.  Time and chance come in as ``Surroundings``.

Upstream: apiserver/pkg/registry/rest/create.go, BeforeCreate; rest/update.go, BeforeUpdate;
apiserver/pkg/storage/names/generate.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from reflet.apirules import refusals
from reflet.apirules.defaults.by_type import fill_custom_defaults, fill_defaults
from reflet.apirules.kind_strategies import (
    CREATE_RULES,
    GENERATION_FOR_EVER,
    GENERATION_FROM_START,
    STATUS_FROM_CLIENT,
    STATUS_RULES,
    UPDATE_RULES,
    add_by_plugins,
)
from reflet.apirules.schema.decoding import empty_object, in_order
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.service_allocation import ServiceAddresses
from reflet.gotext.times import time_text

Document = dict[str, Any]

# Without vowels and without what looks alike: no words, no mistakes.
NAME_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_NAME: Final = 63
RANDOM_LETTERS: Final = 5
# What a client cannot give to a new object.
_OF_THE_SYSTEM: Final = (
    *("selfLink", "uid", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)
_CONTAINERS: Final = (dict, list)
# All other built-in groups are stored as protobuf, which has no empty lists.
_STORED_AS_JSON: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
NAMESPACE_MISMATCH: Final = (
    "the namespace of the provided object does not match the namespace sent on the request"
)


class Surroundings(msgspec.Struct, frozen=True):
    """What the outside world contributes: time, identity, chance and free addresses.

    ``chance`` gives a number below the one it is given; ``requester`` is who asks, as reviews
    describe a user.
    """

    now: datetime
    new_uid: Callable[[], str]
    chance: Callable[[int], int]
    addresses: ServiceAddresses
    requester: Mapping[str, Any] = {}


def prepare_create(
    kind: ServedKind,
    document: Document,
    *,
    namespace: str,
    surroundings: Surroundings,
    is_owned: bool = False,
) -> Document:
    """Give the object that a create stores, before it is validated.

    One that is the caller's own, and of no use to it afterwards, may be changed on the way.
    Raises BadRequest when the object names another namespace than the request.
    """
    made: Document = document if is_owned else clone(document)
    metadata = made["metadata"] = made.get("metadata") or {}
    _settle_namespace(kind, metadata, namespace)
    for name in (*_OF_THE_SYSTEM, "managedFields", "resourceVersion"):
        metadata.pop(name, None)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generated_name(metadata["generateName"], surroundings.chance)
    metadata["uid"] = surroundings.new_uid()
    metadata["creationTimestamp"] = time_text(surroundings.now)
    if kind.custom is not None:
        if kind.has_status:
            made.pop("status", None)
        fill_custom_defaults(kind.schema, made)
    else:
        _reset_status(kind, made)
        fill_defaults(kind.schema, made)
    if kind.custom is not None or kind.storage_key in GENERATION_FROM_START:
        metadata["generation"] = 1
    rule = CREATE_RULES.get(kind.storage_key)
    if rule is not None and kind.custom is None:
        rule(made, surroundings)
    return _finished(kind, made)


def requested_object(
    kind: ServedKind, document: Document, *, namespace: str, is_new: bool
) -> Document:
    """Give the object of a request as webhooks first see it: before the kind's strategy has it.

    It has its namespace and defaults, and what the admission plugins of every cluster add.
    """
    made: Document = clone(document)
    metadata = made["metadata"] = made.get("metadata") or {}
    _settle_namespace(kind, metadata, namespace)
    if is_new:
        for name in _OF_THE_SYSTEM:
            metadata.pop(name, None)
    made = with_defaults(kind, made)
    if kind.custom is None:
        add_by_plugins(kind.storage_key, made, is_new=is_new)
    return _finished(kind, made)


def with_defaults(kind: ServedKind, made: Document) -> Document:
    """Fill in what a document of a kind leaves out, in place."""
    if kind.custom is None:
        fill_defaults(kind.schema, made)
    else:
        fill_custom_defaults(kind.schema, made)
    return made


def prepare_update(
    kind: ServedKind,
    old: Document,
    document: Document,
    *,
    namespace: str,
    subresource: str = "",
    surroundings: Surroundings,
) -> Document:
    """Give the object that replaces ``old``, before it is validated.

    ``subresource`` is empty, ``status``, ``finalize`` for namespaces, or ``approval`` for requests
    for certificates.
    """
    made: Document = clone(document)
    metadata = made["metadata"] = made.get("metadata") or {}
    _settle_namespace(kind, metadata, namespace)
    if kind.custom is None:
        fill_defaults(kind.schema, made)
    elif kind.has_status and subresource != "status":
        made.pop("status", None)
    if kind.custom is not None:
        fill_custom_defaults(kind.schema, made)
    metadata.pop("selfLink", None)
    before = old["metadata"]
    if "generation" in before:
        metadata["generation"] = before["generation"]
    else:
        metadata.pop("generation", None)
    if subresource in {"status", "approval"}:
        _keep_all_but_status(kind, old, made, subresource, surroundings)
    else:
        _keep_status(kind, old, made, subresource)
        rule = UPDATE_RULES.get(kind.storage_key)
        if rule is not None and kind.custom is None:
            rule(old, made, surroundings)
        _count_generation(kind, old, made)
    if not metadata.get("uid"):
        metadata["uid"] = before.get("uid", "")
    for name in ("creationTimestamp", "deletionTimestamp"):
        if before.get(name):
            metadata[name] = before[name]
    if before.get("deletionGracePeriodSeconds") is not None:
        metadata.setdefault("deletionGracePeriodSeconds", before["deletionGracePeriodSeconds"])
    return _finished(kind, made)


def generated_name(prefix: str, chance: Callable[[int], int]) -> str:
    """Make a name from ``generateName``: shortened if need be, with five random letters."""
    letters = (NAME_LETTERS[chance(len(NAME_LETTERS))] for _ in range(RANDOM_LETTERS))
    return prefix[: LONGEST_NAME - RANDOM_LETTERS] + "".join(letters)


def clone(value: Any) -> Any:
    """Copy a JSON value all the way down."""
    if isinstance(value, dict):
        return {
            name: clone(inner) if isinstance(inner, _CONTAINERS) else inner
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [clone(inner) if isinstance(inner, _CONTAINERS) else inner for inner in value]
    return value


def _settle_namespace(kind: ServedKind, metadata: Document, namespace: str) -> None:
    if not kind.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace", namespace) != namespace and metadata["namespace"]:
        raise refusals.bad_request(NAMESPACE_MISMATCH)
    metadata["namespace"] = namespace


def _reset_status(kind: ServedKind, made: Document) -> None:
    status = kind.schema.field("status")
    if status is None or not kind.has_status or kind.storage_key in STATUS_FROM_CLIENT:
        return
    if status.structure is not None:
        made["status"] = empty_object(status.structure)


def _keep_status(kind: ServedKind, old: Document, made: Document, subresource: str) -> None:
    if not kind.has_status and subresource != "finalize":
        return
    if "status" in old:
        made["status"] = clone(old["status"])
    else:
        made.pop("status", None)


def _keep_all_but_status(
    kind: ServedKind, old: Document, made: Document, subresource: str, surroundings: Surroundings
) -> None:
    status = made.get("status")
    if kind.custom is not None:
        managed = made["metadata"].get("managedFields")
        version = made["metadata"].get("resourceVersion")
        made.update(clone({name: old[name] for name in old if name != "status"}))
        made["apiVersion"] = kind.api_version
        for name in made.keys() - old.keys() - {"status"}:
            del made[name]
        if managed is not None:
            made["metadata"]["managedFields"] = managed
        if version is not None:
            made["metadata"]["resourceVersion"] = version
    elif "spec" in old:
        made["spec"] = clone(old["spec"])
    if status is not None:
        made["status"] = status
    key = kind.storage_key if subresource == "status" else f"{kind.storage_key}/{subresource}"
    rule = STATUS_RULES.get(key)
    if rule is not None and kind.custom is None:
        rule(old, made, surroundings)


def _count_generation(kind: ServedKind, old: Document, made: Document) -> None:
    if kind.custom is not None:
        ignored = {"metadata", "apiVersion", *(("status",) if kind.has_status else ())}
        changed = {name: made[name] for name in made if name not in ignored} != {
            name: old[name] for name in old if name not in ignored
        }
    elif kind.storage_key in GENERATION_FROM_START - GENERATION_FOR_EVER:
        changed = _desired_state(kind, made) != _desired_state(kind, old)
    else:
        return
    if changed:
        made["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _desired_state(kind: ServedKind, document: Document) -> Any:
    if kind.storage_key == "deployments.apps":
        # Its annotations are copied to replica sets, so they are part of what is wished for.
        return document.get("spec"), document["metadata"].get("annotations") or {}
    if "spec" in document:
        return document["spec"]
    return {name: value for name, value in document.items() if name != "metadata"}


def _finished(kind: ServedKind, made: Document) -> Document:
    is_json = kind.custom is not None or kind.group in _STORED_AS_JSON
    ordered = in_order(kind.schema, made, empty_lists=is_json)
    return {"kind": kind.kind, "apiVersion": kind.api_version} | {
        name: value for name, value in ordered.items() if name not in {"kind", "apiVersion"}
    }
