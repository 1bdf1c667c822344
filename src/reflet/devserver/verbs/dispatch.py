"""From a request to the verb that answers it.

Which verb a method and a path mean, and what is refused before any verb is asked.  Watches and
logs are streams: they are opened here and written by http/application.py.

Upstream: apiserver/pkg/endpoints/installer.go, registerResourceHandlers
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final

from reflet.apirules import refusals
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.admission.attributes import AdmittedTarget, Operation
from reflet.devserver.printing.answers import Answer
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.bodies import (
    Body,
    read_options,
    read_subresource,
    subresource_kind,
)
from reflet.devserver.request.request_info import ApiRequest, RequestTarget
from reflet.devserver.request.request_options import (
    read_delete_options,
    read_list_query,
    read_write_options,
)
from reflet.devserver.verbs.admitting import Deletion, admitted
from reflet.devserver.verbs.deleting import delete, delete_collection
from reflet.devserver.verbs.patching import APPLY_PATCH, check_patch_type, patch
from reflet.devserver.verbs.pod_subresources import (
    PASSED_THROUGH,
    POD_SUBRESOURCES,
    bind,
    completed_token_request,
    evict,
    issue_token,
    of_pod,
    with_usual_expiry,
)
from reflet.devserver.verbs.reading import find, get, list_objects
from reflet.devserver.verbs.reviews import answer_review
from reflet.devserver.verbs.scales import get_scale, patch_scale, replace_scale
from reflet.devserver.verbs.state import State
from reflet.devserver.verbs.writing import Writing

_COLLECTION_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
)
_OBJECT_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
)
_SUBRESOURCE_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {"GET": "get", "PUT": "update", "PATCH": "patch", "POST": "create"}
)
REQUEST_TIMEOUT: Final = 34.0  # seconds for everything that a write waits for, as the real server

# Subresources that are parts of the object, and not views or acts.
_PARTS: Final = frozenset({"status", "finalize", "approval"})
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}
)
_OPERATIONS: Final[Mapping[str, tuple[Operation, ...]]] = MappingProxyType(
    {
        "create": ("CREATE",),
        "update": ("UPDATE", "CREATE"),
        "patch": ("UPDATE", "CREATE"),
        "delete": ("DELETE",),
    }
)
_DEPRECATED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        "componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    }
)


class PageNotFound(Exception):
    """Nothing is served under the path; the real server says so in plain text."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose meaning is known.  ``warnings`` are sent along with the answer."""

    request: ApiRequest
    target: RequestTarget
    kind: ServedKind
    verb: str
    warnings: list[str] = field(default_factory=list)


def verb_of(request: ApiRequest, target: RequestTarget) -> str:
    """Name the verb of a request as authorizers would; empty when the method means none."""
    if target.subresource:
        return _SUBRESOURCE_VERBS.get(request.method, "")
    if target.name and not target.watched:
        return _OBJECT_VERBS.get(request.method, "")
    verb = _COLLECTION_VERBS.get(request.method, "")
    return "watch" if verb == "list" and (target.watched or request.flag("watch")) else verb


def understand(kinds: Kinds, request: ApiRequest, target: RequestTarget) -> Call:
    """Find the kind and the verb that are meant, or refuse."""
    kind = kinds.by_resource(target.group, target.version, target.plural)
    if kind is None:
        if target.group and kinds.is_custom(target.group):
            raise PageNotFound(request.path)
        raise refusals.no_such_resource()
    is_named = target.namespace is not None
    if is_named is not kind.namespaced and (is_named or target.name):
        raise refusals.no_such_resource()
    verb = verb_of(request, target)
    if target.subresource:
        _check_subresource(kind, target, verb)
    elif verb not in kind.verbs or (
        kind.namespaced and not is_named and verb in {"create", "deletecollection"}
    ):
        raise refusals.method_not_allowed()
    warning = _DEPRECATED.get(kind.storage_key)
    warnings = [] if warning is None else [warning]
    return Call(request, target, kind, verb, warnings)


def _check_subresource(kind: ServedKind, target: RequestTarget, verb: str) -> None:
    if kind.storage_key == "pods" and target.subresource in POD_SUBRESOURCES:
        allowed: tuple[str, ...] = ("get",) if target.subresource == "log" else ("create",)
        if target.subresource in PASSED_THROUGH:
            allowed = ("get", "create")
    else:
        subresource = kind.subresource(target.subresource)
        if subresource is None:
            if kind.custom is not None:
                raise refusals.not_found(kind.plural, target.name, group=kind.group)
            raise refusals.no_such_resource()
        allowed = subresource.verbs
    if verb not in allowed:
        raise refusals.method_not_allowed()


async def answer(
    state: State, call: Call, body: Body, user: UserInfo, who: Callable[[str], UserInfo | None]
) -> Answer:
    """Do what a request asks, and answer; streams are not for here."""
    request, target, kind = call.request, call.target, call.kind
    match call.verb:
        case "get" if target.subresource not in {"", *_PARTS}:
            stored = find(state.storage, kind, target.namespace, target.name)
            return get_scale(kind, stored)
        case "get":
            version = request.text("resourceVersion")
            return await get(state.storage, kind, target.namespace, target.name, version)
        case "list":
            query = read_list_query(request, watch=False)
            return await list_objects(state.storage, kind, target.namespace, query)
        case "deletecollection":
            query = read_list_query(request, watch=False)
            deletion = _deletion(state, call, body, user)
            return await delete_collection(
                state,
                kind,
                target.namespace,
                query,
                deletion.options,
                admit=deletion.admit_one_of_many,
            )
        case _:
            return await _write_in_time(state, call, body, user, who)


async def _write_in_time(
    state: State, call: Call, body: Body, user: UserInfo, who: Callable[[str], UserInfo | None]
) -> Answer:
    handles = state.admission.handles
    place = (call.kind, call.target.subresource)
    if not any(handles(AdmittedTarget(*place, each)) for each in _OPERATIONS[call.verb]):
        return await _write(state, call, body, user, who)
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT):
            return await _write(state, call, body, user, who)
    except TimeoutError:
        raise refusals.timed_out() from None


async def _write(
    state: State, call: Call, body: Body, user: UserInfo, who: Callable[[str], UserInfo | None]
) -> Answer:
    target, kind = call.target, call.kind
    if call.verb == "create" and not kind.is_stored:
        if kind.kind == "Binding":
            return await _bind(state, call, body, user)
        return await _review(state, call, body, user, who)
    if target.subresource and target.subresource not in _PARTS:
        return await _subresource(state, call, body, user)
    match call.verb:
        case "create":
            writing = _writing(state, call, body, user)
            return await writing.create(writing.read(body))
        case "update":
            writing = _writing(state, call, body, user)
            return await writing.update(writing.read(body))
        case "patch":
            return await patch(_writing(state, call, body, user), body)
        case _:
            deletion = _deletion(state, call, body, user)
            await deletion.admit(target.name)
            return delete(state, kind, target.namespace, target.name, deletion.options, user=user)


def _deletion(state: State, call: Call, body: Body, user: UserInfo) -> Deletion:
    given = read_options(body, state.kinds)
    return Deletion(
        state,
        call.kind,
        call.target.namespace or "",
        read_delete_options(call.request, given),
        call.request,
        given,
        user,
        call.warnings,
        call.target.name,
    )


def _writing(
    state: State, call: Call, body: Body, user: UserInfo, body_kind: ServedKind | None = None
) -> Writing:
    target, kind = call.target, call.kind
    is_apply = False
    if call.verb == "patch":
        check_patch_type(body.media_type, is_custom=kind.custom is not None)
        is_apply = body.media_type == APPLY_PATCH
    options = read_write_options(call.request, _OPTIONS[call.verb], apply=is_apply)
    return Writing(
        state,
        kind,
        target.namespace or "",
        options,
        target.name,
        target.subresource,
        call.warnings,
        user,
        call.request,
        state.admission,
        body_kind,
    )


async def _review(
    state: State, call: Call, body: Body, user: UserInfo, who: Callable[[str], UserInfo | None]
) -> Answer:
    writing = _writing(state, call, body, user)
    document = writing.read(body)
    writing.restrict("CREATE", document, {})
    document = await admitted(writing, document)
    token = (document.get("spec") or {}).get("token") or ""
    asked_about = who(token) if call.kind.kind == "TokenReview" else None
    return answer_review(
        call.kind,
        document,
        namespace=call.target.namespace,
        user=user,
        authorizer=state.authorizer,
        now=state.now(),
        managed=writing.ownership.after_create(document),
        who=asked_about,
    )


async def _bind(state: State, call: Call, body: Body, user: UserInfo) -> Answer:
    """Assign the pod that a binding is named after to a node: the old way of pods/binding."""
    writing = _writing(state, call, body, user)
    document = read_subresource(
        state.kinds,
        "binding",
        body,
        validation=writing.options.validation,
        warnings=call.warnings,
    )
    document = await admitted(writing, document)
    pods = state.kinds.by_resource("", "v1", "pods")
    if pods is None:
        raise refusals.no_such_resource()
    name = (document.get("metadata") or {}).get("name") or ""
    stored = find(state.storage, pods, call.target.namespace, name)
    return bind(state, stored, document, dry_run=writing.options.dry_run)


async def _subresource(state: State, call: Call, body: Body, user: UserInfo) -> Answer:
    target, kind, name = call.target, call.kind, call.target.subresource
    writing = _writing(state, call, body, user, subresource_kind(state.kinds, name))
    if name == "scale":
        find(state.storage, kind, target.namespace, target.name)
        verb = replace_scale if call.verb == "update" else patch_scale
        return await verb(writing, body)
    options = writing.options
    document = read_subresource(
        state.kinds, name, body, validation=options.validation, warnings=call.warnings
    )
    writing.restrict("CREATE", document, {})
    if name == "token":
        account = find(state.storage, kind, target.namespace, target.name)
        complete = partial(completed_token_request, state, account, manager=options.manager)
        return issue_token(state, await admitted(writing, with_usual_expiry(document), complete))
    document = await admitted(writing, document, partial(of_pod, name, target.name))
    stored = find(state.storage, kind, target.namespace, target.name)
    match name:
        case "binding":
            return bind(state, stored, document, dry_run=options.dry_run)
        case _:
            deletion = read_delete_options(call.request, document.get("deleteOptions") or {})
            is_trial = options.dry_run or deletion.dry_run
            return evict(state, kind, stored, replace(deletion, dry_run=is_trial))
