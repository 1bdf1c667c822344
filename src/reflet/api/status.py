"""The server's refusals: from ``Status`` to typed errors, and questions about errors.

Upstream: apimachinery/pkg/api/errors/errors.go, StatusError, NewGenericServerResponse,
    IsResourceExpired, IsTooManyRequests and the other predicates
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from reflet import errors
from reflet.errors import ApiError, Cause

LONGEST_EXCERPT: Final = 200  # characters of an answer that is not a Status
_ENOUGH_FOR_AN_EXCERPT: Final = 4096  # bytes
_TAG: Final = re.compile(r"<[^<>]*>")
_TOO_LARGE_VERSION: Final = "Too large resource version"
_NO_STATUS: Final = "UnexpectedServerResponse"  # a cause: the answer was made up from other text


class StatusCause(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One reason inside a Status; its type is called ``reason`` in JSON."""

    type: str = msgspec.field(default="", name="reason")
    message: str = ""
    field: str = ""


class StatusDetails(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What a Status is about; ``kind`` often holds the resource's plural."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class Status(
    msgspec.Struct,
    frozen=True,
    gc=False,
    omit_defaults=True,
    rename="camel",
    tag_field="kind",
    tag="Status",
):
    """The server's answer when there is no object to answer with."""

    api_version: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0


class _Kind(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""


class _Complaint(msgspec.Struct, frozen=True, gc=False):
    """Where servers that do not speak Status say what is wrong."""

    message: str = ""
    error: str = ""


class _Facts(NamedTuple):
    reason: str
    code: int
    decided_by_code: bool = True  # whether the code alone, without a known reason, means it


_FACTS: Final[Mapping[type[ApiError], _Facts]] = MappingProxyType(
    {
        errors.BadRequest: _Facts("BadRequest", 400),
        errors.Unauthorized: _Facts("Unauthorized", 401),
        errors.Forbidden: _Facts("Forbidden", 403),
        errors.NotFound: _Facts("NotFound", 404),
        errors.MethodNotSupported: _Facts("MethodNotAllowed", 405),
        errors.NotAcceptable: _Facts("NotAcceptable", 406),
        errors.AlreadyExists: _Facts("AlreadyExists", 409, decided_by_code=False),
        errors.Conflict: _Facts("Conflict", 409),
        errors.Gone: _Facts("Gone", 410),
        errors.Expired: _Facts("Expired", 410, decided_by_code=False),
        errors.RequestEntityTooLarge: _Facts("RequestEntityTooLarge", 413),
        errors.UnsupportedMediaType: _Facts("UnsupportedMediaType", 415),
        errors.Invalid: _Facts("Invalid", 422),
        errors.TooManyRequests: _Facts("TooManyRequests", 429),
        errors.InternalError: _Facts("InternalError", 500),
        errors.ServerTimeout: _Facts("ServerTimeout", 500, decided_by_code=False),
        errors.ServiceUnavailable: _Facts("ServiceUnavailable", 503),
        errors.Timeout: _Facts("Timeout", 504),
    }
)
_CLASS_BY_REASON: Final[Mapping[str, type[ApiError]]] = MappingProxyType(
    {facts.reason: kind for kind, facts in _FACTS.items()}
    # Known, so the code does not decide; too rare for a class of its own.
    | {"StorageReadError": ApiError}
)
_CLASS_BY_CODE: Final[Mapping[int, type[ApiError]]] = MappingProxyType(
    {facts.code: kind for kind, facts in _FACTS.items() if facts.decided_by_code}
)


def error_from_status(
    status: object, *, verb: str = "", path: str = "", http_code: int = 0
) -> ApiError:
    """Make the error that a Status means: 429 by its code, others by reason, else by code.

    Whatever is not a Status becomes a plain ApiError, "unexpected object".
    """
    if not isinstance(status, Status):
        return ApiError(
            f"unexpected object instead of a Status: {type(status).__name__}",
            code=http_code,
            verb=verb,
            path=path,
        )
    return _error(status, verb=verb, path=path, http_code=http_code, retry_after=None)


def error_from_object(
    raw: bytes | msgspec.Raw, *, verb: str = "", path: str = "", http_code: int = 0
) -> ApiError:
    """Make the error for the JSON object of an ERROR event, a Status or not."""
    status = _decoded(bytes(raw))
    if status is not None:
        return error_from_status(status, verb=verb, path=path, http_code=http_code)
    # The object's text stays out of the message: it could be a Secret.
    return ApiError(
        f"unexpected object instead of a Status: kind {_kind(bytes(raw))!r}",
        code=http_code,
        verb=verb,
        path=path,
    )


def error_from_response(
    code: int, retry_after: float | None, body: bytes, verb: str = "", path: str = ""
) -> ApiError:
    """Make the error for an answer that is not a success, whatever its body holds.

    ``retry_after`` is what the header of that name says, in seconds; the Status goes first.
    """
    status = _decoded(body)
    if status is not None and status.status != "Success":
        return _error(status, verb=verb, path=path, http_code=code, retry_after=retry_after)
    excerpt = _excerpt(body)
    request = " ".join(filter(None, (verb, path)))
    said = f"said only: {excerpt}" if excerpt else "did not say why"
    stand_in = Status(
        message=f"{request}: the server answered {code} and {said}".removeprefix(": "),
        reason=_reason_for(code, verb),
        details=StatusDetails(causes=(StatusCause(_NO_STATUS, excerpt),)),
        code=code,
    )
    return _error(stand_in, verb=verb, path=path, http_code=code, retry_after=retry_after)


def _error(
    status: Status, *, verb: str, path: str, http_code: int, retry_after: float | None
) -> ApiError:
    code = status.code or http_code
    kind = _CLASS_BY_REASON.get(status.reason) or _CLASS_BY_CODE.get(code) or ApiError
    if code == 429:
        kind = errors.TooManyRequests
    details = status.details or StatusDetails()
    # A server time-out asks for a delay even when it does not say how long.
    if details.retry_after_seconds > 0 or (kind is errors.ServerTimeout and status.details):
        retry_after = float(details.retry_after_seconds)
    said = status.message or f"the server answered {code or 'with a failure'} {status.reason}"
    return kind(
        _one_line(said),
        code=code,
        reason=status.reason,
        verb=verb,
        path=path,
        group=details.group,
        kind=details.kind,
        name=details.name,
        retry_after=retry_after,
        causes=[Cause(cause.type, cause.message, cause.field) for cause in details.causes],
    )


def _reason_for(code: int, verb: str) -> str:
    if code == 409 and verb.lower() in {"create", "post"}:
        return "AlreadyExists"
    kind = _CLASS_BY_CODE.get(code)
    if kind is not None:
        return _FACTS[kind].reason
    return "InternalError" if code >= 500 else ""


def _decoded(body: bytes) -> Status | None:
    if _kind(body) != "Status":
        return None
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _kind(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Kind).kind
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _complaint(body: bytes) -> str:
    try:
        found = msgspec.json.decode(body, type=_Complaint)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return found.message or found.error


def _one_line(text: str) -> str:
    if text.isprintable():
        return text.strip()
    printable = (character if character.isprintable() else " " for character in text)
    return " ".join("".join(printable).split())


def _excerpt(body: bytes) -> str:
    text = body[:_ENOUGH_FOR_AN_EXCERPT].decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        # Not as it is: it could be a Secret that came with the wrong code.
        text = _complaint(body) or f"{len(body)} bytes of JSON"
    if text.startswith("<"):
        text = " ".join(_TAG.sub(" ", text).split())
    line = _one_line(text)
    return line if len(line) <= LONGEST_EXCERPT else line[: LONGEST_EXCERPT - 1] + "…"


def not_found(resource: str, name: str, group: str = "") -> errors.NotFound:
    """Make, without asking a server, the error for an object that is not there."""
    qualified = f"{resource}.{group}" if group else resource
    return errors.NotFound(
        f'{qualified} "{name}" not found',
        code=404,
        reason="NotFound",
        group=group,
        kind=resource,
        name=name,
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__


def _api_error(error: BaseException | None) -> ApiError | None:
    return next((link for link in _chain(error) if isinstance(link, ApiError)), None)


def _means(error: BaseException | None, kind: type[ApiError]) -> bool:
    found = _api_error(error)
    if found is None:
        return False
    facts = _FACTS[kind]
    if isinstance(found, kind) or found.reason == facts.reason:
        return True
    is_unknown = found.reason not in _CLASS_BY_REASON
    return facts.decided_by_code and is_unknown and found.code == facts.code


def is_not_found(error: BaseException | None) -> bool:
    """Whether there is no such object or resource."""
    return _means(error, errors.NotFound)


def is_gone(error: BaseException | None) -> bool:
    """Whether what was asked for existed once and does not come back."""
    return _means(error, errors.Gone)


def is_expired_reason(error: BaseException | None) -> bool:
    """Whether the server calls the version or continue token expired, in this word."""
    return _means(error, errors.Expired)


def is_expired(error: BaseException | None) -> bool:
    """Whether the version asked for has left the server's history: expired or gone."""
    return is_expired_reason(error) or is_gone(error)


def is_too_many_requests(error: BaseException | None) -> bool:
    """Whether the server is throttling: by reason, or by the code 429 whatever the reason."""
    found = _api_error(error)
    return (found is not None and found.code == 429) or _means(error, errors.TooManyRequests)


def is_internal_error(error: BaseException | None) -> bool:
    """Whether the server failed."""
    return _means(error, errors.InternalError)


def is_timeout(error: BaseException | None) -> bool:
    """Whether the request ran out of time on the server."""
    return _means(error, errors.Timeout)


def is_forbidden(error: BaseException | None) -> bool:
    """Whether the server knows who asks and does not allow it."""
    return _means(error, errors.Forbidden)


def is_unauthorized(error: BaseException | None) -> bool:
    """Whether the server does not know who asks."""
    return _means(error, errors.Unauthorized)


def is_invalid(error: BaseException | None) -> bool:
    """Whether the object or the request breaks a rule."""
    return _means(error, errors.Invalid)


def is_already_exists(error: BaseException | None) -> bool:
    """Whether an object of that name is there already."""
    return _means(error, errors.AlreadyExists)


def is_conflict(error: BaseException | None) -> bool:
    """Whether the object changed meanwhile or a precondition failed."""
    return _means(error, errors.Conflict)


def is_too_large_version(error: BaseException | None) -> bool:
    """Whether the version asked for is newer than what the server has."""
    found = _api_error(error)
    if found is None:
        return False
    if any(cause.type == "ResourceVersionTooLarge" for cause in found.causes):
        return True
    return is_timeout(found) and (
        _TOO_LARGE_VERSION in found.message
        or any(cause.message == _TOO_LARGE_VERSION for cause in found.causes)
    )


def is_connection_refused(error: BaseException | None) -> bool:
    """Whether nobody listens at the server's address."""
    return any(
        isinstance(link, errors.ConnectionRefused)
        or (isinstance(link, OSError) and link.errno == errno.ECONNREFUSED)
        for link in _chain(error)
    )


def is_from_gateway(error: BaseException | None) -> bool:
    """Whether a gateway answered that it cannot reach the server behind it.

    It says so by the code; that it is not the API server shows in an answer that is no Status.
    """
    found = _api_error(error)
    return (
        found is not None
        and found.code in {502, 503, 504}
        and any(cause.type == _NO_STATUS for cause in found.causes)
    )


def suggests_delay(error: BaseException | None) -> float | None:
    """Give the seconds that the server asks to wait, or None when it does not ask."""
    found = _api_error(error)
    return None if found is None else found.retry_after
