from __future__ import annotations

import errno
from collections.abc import Callable

import msgspec
import pytest

from reflet import errors
from reflet.api import status
from reflet.api.status import (
    Status,
    StatusCause,
    StatusDetails,
    error_from_object,
    error_from_response,
    error_from_status,
    not_found,
    suggests_delay,
)
from reflet.errors import ApiError, Cause

Predicate = Callable[[BaseException | None], bool]

REASONS: list[tuple[str, type[ApiError]]] = [
    ("Unauthorized", errors.Unauthorized),
    ("Forbidden", errors.Forbidden),
    ("NotFound", errors.NotFound),
    ("AlreadyExists", errors.AlreadyExists),
    ("Conflict", errors.Conflict),
    ("Gone", errors.Gone),
    ("Invalid", errors.Invalid),
    ("ServerTimeout", errors.ServerTimeout),
    ("StorageReadError", ApiError),
    ("Timeout", errors.Timeout),
    ("TooManyRequests", errors.TooManyRequests),
    ("BadRequest", errors.BadRequest),
    ("MethodNotAllowed", errors.MethodNotSupported),
    ("NotAcceptable", errors.NotAcceptable),
    ("RequestEntityTooLarge", errors.RequestEntityTooLarge),
    ("UnsupportedMediaType", errors.UnsupportedMediaType),
    ("InternalError", errors.InternalError),
    ("Expired", errors.Expired),
    ("ServiceUnavailable", errors.ServiceUnavailable),
]
CODES: list[tuple[int, type[ApiError]]] = [
    (400, errors.BadRequest),
    (401, errors.Unauthorized),
    (403, errors.Forbidden),
    (404, errors.NotFound),
    (405, errors.MethodNotSupported),
    (406, errors.NotAcceptable),
    (409, errors.Conflict),
    (410, errors.Gone),
    (413, errors.RequestEntityTooLarge),
    (415, errors.UnsupportedMediaType),
    (418, ApiError),
    (422, errors.Invalid),
    (429, errors.TooManyRequests),
    (500, errors.InternalError),
    (502, ApiError),
    (503, errors.ServiceUnavailable),
    (504, errors.Timeout),
]


def wrapped(error: BaseException) -> BaseException:
    outer = RuntimeError("the list failed")
    middle = ValueError("the page failed")
    outer.__cause__, middle.__cause__ = middle, error
    return outer


@pytest.mark.parametrize(("reason", "kind"), REASONS)
def test_a_known_reason_decides_the_class_whatever_the_code(
    reason: str, kind: type[ApiError]
) -> None:
    error = error_from_status(Status(reason=reason, code=418, message="no"))

    assert type(error) is kind


@pytest.mark.parametrize("reason", ["", "Moody"])
@pytest.mark.parametrize(("code", "kind"), CODES)
def test_without_a_known_reason_the_code_decides(
    reason: str, code: int, kind: type[ApiError]
) -> None:
    error = error_from_status(Status(reason=reason, code=code, message="no"))

    assert type(error) is kind


def test_429_is_throttling_even_when_the_reason_says_something_else() -> None:
    error = error_from_status(Status(reason="Timeout", code=429))

    assert (type(error), status.is_timeout(error)) == (errors.TooManyRequests, True)


def test_a_status_without_a_code_has_the_code_of_the_answer() -> None:
    error = error_from_status(Status(message="no"), http_code=404)

    assert (type(error), error.code) == (errors.NotFound, 404)


def test_an_error_carries_the_facts_of_the_status_and_of_the_request() -> None:
    body = msgspec.json.encode(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'Pod "web" is invalid',
            "reason": "Invalid",
            "code": 422,
            "details": {
                "name": "web",
                "group": "apps",
                "kind": "Pod",
                "uid": "1",
                "retryAfterSeconds": 3,
                "causes": [{"reason": "FieldValueInvalid", "message": "no", "field": "spec.x"}],
            },
        }
    )

    error = error_from_response(422, 9.0, body, verb="create", path="/api/v1/pods")

    assert vars(error) == {
        "message": 'Pod "web" is invalid',
        "code": 422,
        "reason": "Invalid",
        "verb": "create",
        "path": "/api/v1/pods",
        "group": "apps",
        "kind": "Pod",
        "name": "web",
        "retry_after": 3.0,
        "causes": (Cause("FieldValueInvalid", "no", "spec.x"),),
    }


def test_a_status_that_does_not_say_how_long_to_wait_leaves_it_to_the_header() -> None:
    body = b'{"kind":"Status","status":"Failure","code":429,"message":"busy"}'

    assert error_from_response(429, 2.0, body).retry_after == 2.0


@pytest.mark.parametrize(
    ("code", "verb", "kind", "reason"),
    [
        (404, "get", errors.NotFound, "NotFound"),
        (409, "create", errors.AlreadyExists, "AlreadyExists"),
        (409, "POST", errors.AlreadyExists, "AlreadyExists"),
        (409, "patch", errors.Conflict, "Conflict"),
        (410, "watch", errors.Gone, "Gone"),
        (429, "list", errors.TooManyRequests, "TooManyRequests"),
        (502, "list", errors.InternalError, "InternalError"),
        (302, "list", ApiError, ""),
    ],
)
def test_an_answer_without_a_status_is_classified_by_its_code(
    code: int, verb: str, kind: type[ApiError], reason: str
) -> None:
    error = error_from_response(code, None, b"no", verb=verb)

    assert (type(error), error.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"404 page not found\n", "said only: 404 page not found"),
        (b"", "did not say why"),
        (b"<html><title>Bad\nGateway</title><hr>nginx</html>", "said only: Bad Gateway nginx"),
        (b'{"error": "x"}', "said only: x"),
        (b'{"message": "y", "data": "z"}', "said only: y"),
        (b'{"kind": "Status", "code": "many"}', "said only: 34 bytes of JSON"),
        (b'{"kind": "Secret", "data": {"password": "aHVzaA=="}}', "said only: 52 bytes of JSON"),
        (b'{"data": {"password": "aHVz', "said only: 27 bytes of JSON"),
        (b"[" * 100_000, "said only: 100000 bytes of JSON"),
        (b"\x1b[31mred\x00\r\nblue", "said only: [31mred blue"),
        (b"\xff", "said only: \ufffd"),
    ],
)
def test_an_answer_without_a_status_is_quoted_in_one_line(body: bytes, said: str) -> None:
    error = error_from_response(404, None, body, verb="get", path="/api")

    assert str(error) == f"get /api: the server answered 404 and {said}"


@pytest.mark.parametrize("body", [b"x" * 100_000, b"<" * 100_000, b"(" * 100_000])
def test_a_long_answer_is_cut(body: bytes) -> None:
    error = error_from_response(500, None, body)

    assert len(error.causes[0].message) == 200


@pytest.mark.parametrize("text", ["two\nlines", "two\u2028lines", "two\r\n  lines\n"])
def test_a_message_of_several_lines_becomes_one(text: str) -> None:
    assert str(error_from_status(Status(message=text))) == "two lines"


def test_a_status_without_a_message_still_says_something() -> None:
    error = error_from_status(Status(code=403, reason="Forbidden"))

    assert str(error) == "the server answered 403 Forbidden"


def test_the_status_of_an_error_event_becomes_the_error() -> None:
    raw = msgspec.Raw(
        b'{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}'
    )

    assert isinstance(error_from_object(raw), errors.Expired)


@pytest.mark.parametrize(
    ("raw", "kind"), [(b'{"kind":"Secret","data":{"a":"c2VjcmV0"}}', "Secret"), (b"7", "")]
)
def test_any_other_object_of_an_error_event_is_unexpected_and_not_shown(
    raw: bytes, kind: str
) -> None:
    error = error_from_object(raw)

    assert (type(error), str(error)) == (
        ApiError,
        f"unexpected object instead of a Status: kind {kind!r}",
    )


def test_an_object_that_is_not_a_status_is_unexpected() -> None:
    error = error_from_status({"kind": "ConfigMap"})

    assert (type(error), str(error)) == (
        ApiError,
        "unexpected object instead of a Status: dict",
    )


PREDICATES: list[tuple[Predicate, str, int | None]] = [
    (status.is_not_found, "NotFound", 404),
    (status.is_gone, "Gone", 410),
    (status.is_expired_reason, "Expired", None),
    (status.is_too_many_requests, "TooManyRequests", 429),
    (status.is_internal_error, "InternalError", 500),
    (status.is_timeout, "Timeout", 504),
    (status.is_forbidden, "Forbidden", 403),
    (status.is_invalid, "Invalid", 422),
    (status.is_already_exists, "AlreadyExists", None),
    (status.is_conflict, "Conflict", 409),
    (status.is_unauthorized, "Unauthorized", 401),
]


@pytest.mark.parametrize(("predicate", "reason", "_code"), PREDICATES)
def test_a_predicate_follows_the_reason_through_wrapping(
    predicate: Predicate, reason: str, _code: int | None
) -> None:
    assert predicate(wrapped(error_from_status(Status(reason=reason))))


@pytest.mark.parametrize(("predicate", "reason", "code"), PREDICATES)
def test_a_predicate_holds_for_no_other_reason(
    predicate: Predicate, reason: str, code: int | None
) -> None:
    others = [
        error_from_status(Status(reason=other, code=418)) for other, _ in REASONS if other != reason
    ]

    assert not any(map(predicate, others))


@pytest.mark.parametrize(("predicate", "_reason", "code"), PREDICATES)
def test_a_predicate_falls_back_to_its_code(
    predicate: Predicate, _reason: str, code: int | None
) -> None:
    holding = {other for other, _ in CODES if predicate(ApiError("no", code=other, reason="Moody"))}

    assert holding == ({code} if code else set())


def test_a_code_does_not_outvote_a_known_reason_except_429() -> None:
    error = ApiError("no", code=404, reason="Forbidden")
    throttled = ApiError("no", code=429, reason="Forbidden")

    assert not status.is_not_found(error)
    assert status.is_too_many_requests(throttled)


def test_an_error_made_by_hand_is_known_by_its_class() -> None:
    assert status.is_not_found(errors.NotFound("no such thing"))


@pytest.mark.parametrize("error", [None, ValueError("x"), errors.TransportError("reset")])
def test_what_is_no_api_error_fulfils_no_predicate(error: BaseException | None) -> None:
    assert not any(predicate(error) for predicate, _, _ in PREDICATES)


def test_expired_means_expired_or_gone() -> None:
    found = [status.is_expired(error_from_status(Status(reason=reason))) for reason, _ in REASONS]

    assert [reason for (reason, _), holds in zip(REASONS, found, strict=True) if holds] == [
        "Gone",
        "Expired",
    ]


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        (
            Status(
                reason="Timeout",
                details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge"),)),
            ),
            True,
        ),
        (Status(details=StatusDetails(causes=(StatusCause("ResourceVersionTooLarge"),))), True),
        (
            Status(
                reason="Timeout",
                details=StatusDetails(causes=(StatusCause("", "Too large resource version"),)),
            ),
            True,
        ),
        (Status(code=504, message="Timeout: Too large resource version: 9, current: 8"), True),
        (Status(reason="Timeout", message="too large resource version"), False),
        (Status(reason="Invalid", message="Too large resource version"), False),
        (Status(reason="Timeout", message="slow"), False),
    ],
)
def test_a_version_is_too_large_by_cause_or_by_the_text_of_a_timeout(
    answer: Status, holds: bool
) -> None:
    assert status.is_too_large_version(wrapped(error_from_status(answer))) is holds


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (errors.ConnectionRefused("nobody listens"), True),
        (OSError(errno.ECONNREFUSED, "refused"), True),
        (OSError(errno.ECONNRESET, "reset"), False),
        (errors.TransportError("reset"), False),
        (error_from_status(Status(code=503)), False),
    ],
)
def test_a_refused_connection_is_found_anywhere_in_the_chain(
    error: BaseException, refused: bool
) -> None:
    assert status.is_connection_refused(wrapped(error)) is refused


def test_a_chain_that_bites_its_tail_ends() -> None:
    error = ValueError("x")
    error.__cause__ = wrapped(error)

    assert not status.is_not_found(error)


@pytest.mark.parametrize(
    ("answer", "delay"),
    [
        (Status(code=429, details=StatusDetails(retry_after_seconds=7)), 7.0),
        (Status(code=302, details=StatusDetails(retry_after_seconds=1)), 1.0),
        (Status(reason="ServerTimeout", details=StatusDetails(name="x")), 0.0),
        (Status(reason="ServerTimeout"), None),
        (Status(code=429, details=StatusDetails(name="x")), None),
        (Status(code=500, details=StatusDetails(retry_after_seconds=-1)), None),
    ],
)
def test_a_delay_is_suggested_when_the_server_asks_for_one(
    answer: Status, delay: float | None
) -> None:
    assert suggests_delay(wrapped(error_from_status(answer))) == delay


def test_what_is_no_api_error_suggests_no_delay() -> None:
    assert suggests_delay(ValueError("x")) is None


@pytest.mark.parametrize(
    ("group", "text"),
    [("", 'secret "web" not found'), ("apps", 'secret.apps "web" not found')],
)
def test_a_local_not_found_reads_like_the_servers(group: str, text: str) -> None:
    error = not_found("secret", "web", group)

    assert (str(error), error.code, error.reason, error.kind) == (text, 404, "NotFound", "secret")
