"""Refusals, as documents that equal the real server's."""

from __future__ import annotations

from reflet.apirules import refusals
from reflet.errors import Cause


def test_an_object_that_is_missing_is_named_in_the_details() -> None:
    assert refusals.status_document(refusals.not_found("deployments", "web", group="apps")) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "web" not found',
        "reason": "NotFound",
        "details": {"name": "web", "group": "apps", "kind": "deployments"},
        "code": 404,
    }


def test_some_refusals_have_empty_details_and_others_none() -> None:
    assert refusals.status_document(refusals.method_not_allowed())["details"] == {}
    assert refusals.status_document(refusals.not_acceptable())["details"] == {}
    assert "details" not in refusals.status_document(refusals.unauthorized())
    assert "details" not in refusals.status_document(refusals.bad_request("no"))
    assert "details" not in refusals.status_document(refusals.expired("old"))


def test_a_mistake_without_a_reason_stays_without_one() -> None:
    document = refusals.status_document(refusals.unexpected("what?"))

    assert document["code"] == 500
    assert "reason" not in document


def test_the_same_complaint_is_said_once_and_listed_twice() -> None:
    cause = Cause("FieldValueInvalid", "Invalid value: 1: no", "spec.a")

    error = refusals.invalid("Widget", "w", [cause, cause], group="example.com")

    assert error.message == 'Widget.example.com "w" is invalid: spec.a: Invalid value: 1: no'
    assert len(refusals.status_document(error)["details"]["causes"]) == 2


def test_several_complaints_stand_in_brackets() -> None:
    causes = [Cause("A", "first", "a"), Cause("B", "second", "b")]

    assert refusals.invalid("Pod", "p", causes).message == (
        'Pod "p" is invalid: [a: first, b: second]'
    )


def test_an_expired_token_is_answered_with_another() -> None:
    document = refusals.status_document(refusals.expired_continue("next"))

    assert document["metadata"] == {"continue": "next"}
    assert (document["code"], document["reason"]) == (410, "Expired")


def test_a_version_that_is_too_large_asks_to_come_back() -> None:
    details = refusals.status_document(refusals.too_large_version(9, 5))["details"]

    assert details == {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }


def test_a_failure_of_the_server_itself_is_an_internal_error() -> None:
    document = refusals.status_document(RuntimeError("broken"))

    assert (document["code"], document["reason"]) == (500, "InternalError")
    assert document["message"] == "Internal error occurred: broken"


def test_success_says_what_was_deleted() -> None:
    assert refusals.success(name="a", kind="configmaps", uid="u")["details"] == {
        "name": "a",
        "kind": "configmaps",
        "uid": "u",
    }


def test_a_page_that_is_forbidden_is_named_in_the_reason_only() -> None:
    document = refusals.status_document(refusals.forbidden("", "", "no"))

    assert (document["message"], document["details"]) == ("forbidden: no", {})


def test_what_the_server_relies_on_and_fails_is_an_internal_error_with_its_cause() -> None:
    document = refusals.status_document(refusals.internal_error("the webhook is away"))

    assert document["message"] == "Internal error occurred: the webhook is away"
    assert document["details"] == {"causes": [{"message": "the webhook is away"}]}


def test_a_write_that_waited_for_too_long_is_a_timeout() -> None:
    document = refusals.status_document(refusals.timed_out())

    assert (document["code"], document["reason"]) == (504, "Timeout")
