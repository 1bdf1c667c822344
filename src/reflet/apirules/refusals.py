"""The refusals of the API server: each with the code, reason, text and details of the real one.

Also how a refusal becomes the ``Status`` that is sent.

Upstream: apimachinery/pkg/api/errors/errors.go;
apiserver/pkg/endpoints/handlers/responsewriters/status.go, ErrorToAPIStatus
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from reflet import errors
from reflet.errors import ApiError, Cause
from reflet.gotext.quoting import quoted

OPTIONS_GROUP: Final = "meta.k8s.io"

# The real server makes these with details, be they empty; others without.
_ALWAYS_WITH_DETAILS: Final = frozenset(
    {
        *("NotFound", "AlreadyExists", "Conflict", "Invalid", "Forbidden"),
        *("MethodNotAllowed", "Timeout", "ServerTimeout", "TooManyRequests", "InternalError"),
    }
)
# Its generic answers to a code begin with the code, and have details too.
_GENERIC: Final = ("406: ", "415: ")


class ExpiredContinue(errors.Expired):
    """A continue token is too old; ``token`` goes on with the list as it is now."""

    def __init__(self, token: str) -> None:
        self.token = token
        super().__init__(
            "The provided continue parameter is too old to display a consistent list result. You "
            "can start a new list without the continue parameter, or use the continue token in "
            "this response to retrieve the remainder of the results. Continuing with the "
            "provided token results in an inconsistent list - objects that were created, "
            "modified, or deleted between the time the first chunk was returned and now may "
            "show up in the list.",
            code=410,
            reason="Expired",
        )


class Denied(ApiError):
    """A webhook refuses; ``details`` are its own, whatever the reason."""

    def __init__(
        self, message: str, *, code: int, reason: str = "", details: dict[str, Any] | None = None
    ) -> None:
        self.details = details
        super().__init__(message, code=code, reason=reason)


def status_document(error: BaseException) -> dict[str, Any]:
    """Make the ``Status`` that the server answers with; what is no refusal of its own is a 500."""
    if isinstance(error, ApiError) and error.code:
        # One without a reason is one that the real server did not expect either.
        code, reason, message = error.code, error.reason, error.message
    else:
        said = " ".join(str(error).split())
        code, reason, message = 500, "InternalError", f"Internal error occurred: {said}"
    document: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {"continue": error.token} if isinstance(error, ExpiredContinue) else {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        document["reason"] = reason
    if isinstance(error, Denied):
        return document | ({"details": error.details} if error.details else {}) | {"code": code}
    details = _details(error)
    if details or reason in _ALWAYS_WITH_DETAILS or message.startswith(_GENERIC):
        document["details"] = details
    document["code"] = code
    return document


def _details(error: BaseException) -> dict[str, Any]:
    if not isinstance(error, ApiError):
        return {"causes": [{"message": str(error)}]}
    details: dict[str, Any] = {
        "name": error.name,
        "group": error.group,
        "kind": error.kind,
        "causes": [_cause(cause) for cause in error.causes],
        "retryAfterSeconds": math.ceil(error.retry_after or 0),
    }
    return {name: value for name, value in details.items() if value}


def _cause(cause: Cause) -> dict[str, str]:
    parts = {"reason": cause.type, "message": cause.message, "field": cause.field}
    return {name: value for name, value in parts.items() if value}


def success(
    *, name: str = "", group: str = "", kind: str = "", uid: str = "", code: int = 0
) -> dict[str, Any]:
    """Make the ``Status`` of a request that was done and has no object to show."""
    details = {"name": name, "group": group, "kind": kind, "uid": uid}
    document: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    }
    if any(details.values()):
        document["details"] = {key: value for key, value in details.items() if value}
    if code:
        document["code"] = code
    return document


def qualified(resource: str, group: str = "") -> str:
    """Name a resource or kind as messages do: with its group, unless it is the core group."""
    return f"{resource}.{group}" if group else resource


# Who and where


def unauthorized() -> ApiError:
    """Nobody knows who asks."""
    return errors.Unauthorized("Unauthorized", code=401, reason="Unauthorized")


def forbidden(resource: str, name: str, why: str, *, group: str = "") -> ApiError:
    """A rule forbids it; a page that is no resource has no name to be called by."""
    named = f" {quoted(name)}" if name else ""
    what = f"{qualified(resource, group)}{named} is forbidden" if resource else "forbidden"
    return errors.Forbidden(
        f"{what}: {why}",
        code=403,
        reason="Forbidden",
        group=group,
        kind=resource,
        name=name,
    )


def no_such_resource() -> ApiError:
    """The group is served, but not this resource or subresource of it."""
    return errors.NotFound(
        "the server could not find the requested resource", code=404, reason="NotFound"
    )


def method_not_allowed() -> ApiError:
    """The resource is served, but not with this method."""
    return errors.MethodNotSupported(
        "the server does not allow this method on the requested resource",
        code=405,
        reason="MethodNotAllowed",
    )


# The form of requests


def bad_request(message: str) -> ApiError:
    """The request is malformed."""
    return errors.BadRequest(message, code=400, reason="BadRequest")


def unexpected(message: str) -> ApiError:
    """What the real server answers with a bare 500: mistakes it has no reason for."""
    return ApiError(message, code=500)


def internal_error(why: str) -> ApiError:
    """Something that the server itself relies on went wrong."""
    return errors.InternalError(
        f"Internal error occurred: {why}",
        code=500,
        reason="InternalError",
        causes=[Cause(message=why)],
    )


def unsupported_media_type() -> ApiError:
    """A body in a form that the server does not read."""
    return errors.UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        code=415,
        reason="UnsupportedMediaType",
    )


def unsupported_patch_type() -> ApiError:
    """A patch in a form that the server does not read."""
    return errors.UnsupportedMediaType(
        "415: Unsupported Media Type", code=415, reason="UnsupportedMediaType"
    )


def not_acceptable(*, watch: bool = False) -> ApiError:
    """None of the media types asked for is served."""
    streams = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    return errors.NotAcceptable(
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        f"application/vnd.kubernetes.protobuf{streams if watch else ''}",
        code=406,
        reason="NotAcceptable",
    )


def is_a_list(form: str, go_type: str) -> ApiError:
    """A list was asked for in a form for one object."""
    message = f"you requested {form}, but the requested object is a list ({go_type})"
    return errors.NotAcceptable(message, code=406, reason="NotAcceptable")


def not_a_list(form: str, go_type: str) -> ApiError:
    """An object was asked for in a form for lists."""
    message = f"you requested {form}, but the requested object is not a list ({go_type})"
    return errors.NotAcceptable(message, code=406, reason="NotAcceptable")


def only_these_media_types(*accepted: str) -> ApiError:
    """The media type is served, but not for this request or as this kind."""
    return errors.NotAcceptable(
        f"only the following media types are accepted: {', '.join(accepted)}",
        code=406,
        reason="NotAcceptable",
    )


def too_large(limit: int) -> ApiError:
    """The body is larger than the server takes."""
    return errors.RequestEntityTooLarge(
        f"Request entity too large: limit is {limit}", code=413, reason="RequestEntityTooLarge"
    )


def invalid(kind: str, name: str, causes: Iterable[Cause], *, group: str = "") -> ApiError:
    """An object, or the options of a request, break rules; each cause names its field."""
    found = tuple(causes)
    # The same complaint found twice is said once, but listed twice.
    said = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in found))
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    return errors.Invalid(
        f"{qualified(kind, group)} {quoted(name)} is invalid: {text}",
        code=422,
        reason="Invalid",
        group=group,
        kind=kind,
        name=name,
        causes=found,
    )


def rejected() -> ApiError:
    """A patch cannot be carried out; the real server says no more than that."""
    said = "the server rejected our request due to an error in our request"
    return errors.Invalid(said, code=422, reason="Invalid")


def invalid_options(kind: str, causes: Iterable[Cause]) -> ApiError:
    """The options of a request (``ListOptions``, ``CreateOptions`` …) break rules."""
    return invalid(kind, "", causes, group=OPTIONS_GROUP)


# Objects


def not_found(resource: str, name: str, *, group: str = "") -> ApiError:
    """No such object."""
    return errors.NotFound(
        f"{qualified(resource, group)} {quoted(name)} not found",
        code=404,
        reason="NotFound",
        group=group,
        kind=resource,
        name=name,
    )


def already_exists(resource: str, name: str, *, group: str = "") -> ApiError:
    """An object of that name is there already."""
    return errors.AlreadyExists(
        f"{qualified(resource, group)} {quoted(name)} already exists",
        code=409,
        reason="AlreadyExists",
        group=group,
        kind=resource,
        name=name,
    )


def conflict(resource: str, name: str, why: str, *, group: str = "") -> ApiError:
    """The object is not in the state that the request takes for granted."""
    return errors.Conflict(
        f"Operation cannot be fulfilled on {qualified(resource, group)} {quoted(name)}: {why}",
        code=409,
        reason="Conflict",
        group=group,
        kind=resource,
        name=name,
    )


def modified(resource: str, name: str, *, group: str = "") -> ApiError:
    """The object changed since it was read."""
    why = (
        "the object has been modified; please apply your changes to the latest version and "
        "try again"
    )
    return conflict(resource, name, why, group=group)


def namespace_terminating(resource: str, name: str, namespace: str, *, group: str = "") -> ApiError:
    """Nothing new may be made in a namespace that is going."""
    refusal = forbidden(
        resource,
        name,
        f"unable to create new content in namespace {namespace} because it is being terminated",
        group=group,
    )
    text = f"namespace {namespace} is being terminated"
    refusal.causes = (Cause("NamespaceTerminating", text, "metadata.namespace"),)
    return refusal


def timed_out() -> ApiError:
    """A write had to wait for too long."""
    return errors.Timeout(
        "Timeout: request did not complete within requested timeout - context deadline exceeded",
        code=504,
        reason="Timeout",
    )


# Versions


def too_large_version(asked: int, current: int) -> ApiError:
    """The version asked for is newer than all that there is."""
    return errors.Timeout(
        f"Timeout: Too large resource version: {asked}, current: {current}",
        code=504,
        reason="Timeout",
        retry_after=1,
        causes=(Cause("ResourceVersionTooLarge", "Too large resource version"),),
    )


def expired(message: str) -> ApiError:
    """The version asked for has left the history."""
    return errors.Expired(message, code=410, reason="Expired")


def expired_continue(token: str) -> ApiError:
    """Refuse a continue token of a version that is gone, with a token to go on regardless."""
    return ExpiredContinue(token)


# Faults on request

_BY_CODE: Final[dict[int, tuple[type[ApiError], str, str]]] = {
    401: (errors.Unauthorized, "Unauthorized", "Unauthorized"),
    403: (errors.Forbidden, "Forbidden", "forbidden: a fault on request"),
    409: (errors.Conflict, "Conflict", "a fault on request"),
    410: (errors.Expired, "Expired", "The resourceVersion for the provided list is too old."),
    429: (errors.TooManyRequests, "TooManyRequests", "Too many requests, please try again later."),
    500: (errors.InternalError, "InternalError", "Internal error occurred: a fault on request"),
    503: (errors.ServiceUnavailable, "ServiceUnavailable", "apiserver is shutting down"),
    504: (errors.Timeout, "Timeout", "Timeout: request did not complete within the allotted time"),
}


def by_code(
    code: int, *, reason: str = "", message: str = "", retry_after: float | None = None
) -> ApiError:
    """Make the refusal that a fault asks for, with the usual reason and text of its code."""
    kind, usual_reason, usual_message = _BY_CODE.get(code, (ApiError, "", "a fault on request"))
    return kind(
        message or usual_message,
        code=code,
        reason=reason or usual_reason,
        retry_after=retry_after,
    )
