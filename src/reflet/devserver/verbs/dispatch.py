"""From a request to the verb that answers it.

Which verb a method and a path mean, and what is refused before any verb is asked.  Watches and
logs are streams: they are opened here and written by http/application.py.

Upstream: apiserver/pkg/endpoints/installer.go, registerResourceHandlers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from reflet.apirules import refusals
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.strict_decoding import check_body
from reflet.devserver.printing.answers import Answer
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.bodies import Body, read_object, read_options, read_subresource
from reflet.devserver.request.request_info import ApiRequest, RequestTarget
from reflet.devserver.request.request_options import (
    read_delete_options,
    read_list_query,
    read_write_options,
)
from reflet.devserver.verbs.deleting import delete, delete_collection
from reflet.devserver.verbs.field_managers import FieldManager
from reflet.devserver.verbs.patching import APPLY_PATCH, check_patch_type, patch
from reflet.devserver.verbs.pod_subresources import (
    PASSED_THROUGH,
    POD_SUBRESOURCES,
    bind,
    check_pod_name,
    evict,
    request_token,
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
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}
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

    @property
    def is_stream(self) -> bool:
        """Whether the answer is a stream: a watch, a log, or what a node is asked for."""
        streamed = PASSED_THROUGH | {"log"}
        return self.verb == "watch" or self.target.subresource in streamed


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
    if call.verb == "create" and not kind.is_stored:
        if kind.kind == "Binding":
            return _bind(state, call, body)
        return _review(state, call, body, user, who)
    if target.subresource and target.subresource not in {"status", "finalize", "approval"}:
        return _subresource(state, call, body)
    match call.verb:
        case "get":
            version = request.text("resourceVersion")
            return await get(state.storage, kind, target.namespace, target.name, version)
        case "list":
            query = read_list_query(request, watch=False)
            return await list_objects(state.storage, kind, target.namespace, query)
        case "create":
            writing = _writing(state, call, body, user)
            return writing.create(writing.read(body))
        case "update":
            writing = _writing(state, call, body)
            return writing.update(writing.read(body))
        case "patch":
            return patch(_writing(state, call, body, user), body)
        case "delete":
            options = read_delete_options(request, read_options(body))
            return delete(state, kind, target.namespace, target.name, options)
        case _:
            query = read_list_query(request, watch=False)
            options = read_delete_options(request, read_options(body))
            return await delete_collection(state, kind, target.namespace, query, options)


def _writing(state: State, call: Call, body: Body, user: UserInfo | None = None) -> Writing:
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
    )


def _review(
    state: State, call: Call, body: Body, user: UserInfo, who: Callable[[str], UserInfo | None]
) -> Answer:
    options = read_write_options(call.request, _OPTIONS[call.verb])
    document, warnings = check_body(
        call.kind,
        read_object(call.kind, body, state.kinds),
        kinds=state.kinds,
        field_validation=options.validation,
        raw=body.content,
    )
    call.warnings.extend(warnings)
    token = (document.get("spec") or {}).get("token") or ""
    asked_about = who(token) if call.kind.kind == "TokenReview" else None
    ownership = FieldManager(call.kind, "", options.manager, state.now())
    return answer_review(
        call.kind,
        document,
        user=user,
        now=state.now(),
        managed=ownership.after_create(document),
        who=asked_about,
    )


def _bind(state: State, call: Call, body: Body) -> Answer:
    """Assign the pod that a binding is named after to a node: the old way of pods/binding."""
    options = read_write_options(call.request, _OPTIONS[call.verb])
    document = read_subresource(
        state.kinds, "binding", body, validation=options.validation, warnings=call.warnings
    )
    pods = state.kinds.by_resource("", "v1", "pods")
    if pods is None:
        raise refusals.no_such_resource()
    name = (document.get("metadata") or {}).get("name") or ""
    stored = find(state.storage, pods, call.target.namespace, name)
    return bind(state, stored, document, dry_run=options.dry_run)


def _subresource(state: State, call: Call, body: Body) -> Answer:
    target, kind = call.target, call.kind
    if target.subresource == "scale":
        stored = find(state.storage, kind, target.namespace, target.name)
        match call.verb:
            case "get":
                return get_scale(kind, stored)
            case "update":
                return replace_scale(_writing(state, call, body), stored, body)
            case _:
                return patch_scale(_writing(state, call, body), stored, body)
    options = read_write_options(call.request, _OPTIONS[call.verb])
    document = read_subresource(
        state.kinds,
        target.subresource,
        body,
        validation=options.validation,
        warnings=call.warnings,
    )
    if target.subresource != "token":
        check_pod_name(target.subresource, target.name, document)
    stored = find(state.storage, kind, target.namespace, target.name)
    match target.subresource:
        case "token":
            return request_token(state, stored, document, manager=options.manager)
        case "binding":
            return bind(state, stored, document, dry_run=options.dry_run)
        case _:
            deletion = read_delete_options(call.request, document.get("deleteOptions") or {})
            return evict(state, kind, stored, deletion)
