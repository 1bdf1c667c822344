"""What is said to webhooks, and how their answers are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.apirules.refusals import status_document
from reflet.devserver.admission.admission_reviews import (
    CallFailed,
    denial,
    read_verdict,
    review,
    review_version,
)
from reflet.devserver.request.authentication import UserInfo
from reflet.devserver.request.bodies import subresource_kind
from tests.unit.devserver.admission.admission_scene import attributes
from tests.unit.devserver.object_scene import KINDS, kind_of

OPTIONS = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
USER = UserInfo("somebody", "1", ("everybody",))


def asked(write: Any, kind: Any = None, **more: Any) -> dict[str, Any]:
    made = review(
        write,
        kind or write.kind,
        "u",
        version="v1",
        object=write.object,
        old=write.old,
        **more,
    )
    found: dict[str, Any] = made["request"]
    return found


def test_a_review_says_what_is_written_where_by_whom_and_how() -> None:
    write = attributes(options=OPTIONS, user=USER)

    assert asked(write) == {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "c",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {"username": "somebody", "uid": "1", "groups": ["everybody"]},
        "object": {"metadata": {"name": "c"}},
        "oldObject": None,
        "dryRun": False,
        "options": OPTIONS,
    }


def test_a_review_names_the_version_asked_for_and_that_of_the_request() -> None:
    old, new = (
        kind_of("horizontalpodautoscalers", "autoscaling", version) for version in ("v1", "v2")
    )
    write = attributes()
    request = asked(type(write)("CREATE", old, "h", "shop", {}), new)

    versions = [request[name]["version"] for name in ("kind", "resource", "requestKind")]
    assert [*versions, request["requestResource"]["version"]] == ["v2", "v2", "v1", "v1"]


def test_a_review_of_a_subresource_names_its_own_kind_and_the_resource_of_the_path() -> None:
    write = attributes(
        "pods", subresource="eviction", body_kind=subresource_kind(KINDS, "eviction")
    )
    request = asked(write)

    assert request["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    assert request["resource"]["resource"] == "pods"
    assert (request["subResource"], request["requestSubResource"]) == ("eviction", "eviction")


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [(("v1",), "v1"), (("v2", "v1beta1", "v1"), "v1beta1"), (("v1", "v1beta1"), "v1")],
)
def test_the_first_version_of_reviews_that_is_known_is_taken(
    accepted: tuple[str, ...], chosen: str
) -> None:
    assert review_version(accepted) == chosen


def test_a_webhook_that_takes_no_known_version_cannot_be_asked() -> None:
    with pytest.raises(CallFailed, match="does not accept known AdmissionReview versions"):
        review_version(("v2",))


def answer(response: object, version: str = "v1") -> bytes:
    head = {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview"}
    return json.dumps({**head, "response": response}).encode()


def test_a_verdict_has_the_patch_and_the_warnings() -> None:
    response = {
        "uid": "u",
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": "W10=",
        "warnings": ["w"],
        "auditAnnotations": {"a": "b"},
    }

    found = read_verdict(answer(response), "u", version="v1", mutating=True)

    assert (found.allowed, found.patch, found.warnings) == (True, b"[]", ("w",))


@pytest.mark.parametrize(
    ("response", "mutating", "problem"),
    [
        (None, False, "webhook response was absent"),
        ({"uid": "x"}, False, 'expected response.uid="u", got "x"'),
        ({"uid": "u", "patch": "W10="}, False, "may not return response.patch"),
        ({"uid": "u", "patchType": "JSONPatch"}, False, "may not return response.patchType"),
        ({"uid": "u", "patch": "W10="}, True, "response.patch but not response.patchType"),
        ({"uid": "u", "patchType": "JSONPatch"}, True, "response.patchType but not response.patch"),
        ({"uid": "u", "patch": "W10=", "patchType": ""}, True, 'response.patchType of ""'),
        ({"uid": "u", "patch": "%"}, True, "failed to call webhook"),
        ({"uid": "u", "allowed": "yes"}, True, "failed to call webhook"),
    ],
)
def test_an_answer_that_is_not_as_agreed_is_no_answer(
    response: object, mutating: bool, problem: str
) -> None:
    with pytest.raises(CallFailed, match=problem):
        read_verdict(answer(response), "u", version="v1", mutating=mutating)


@pytest.mark.parametrize(
    ("version", "problem"),
    [("v1beta1", "unknown conversion"), ("v7", 'no kind "AdmissionReview" is registered')],
)
def test_an_answer_in_another_version_is_no_answer(version: str, problem: str) -> None:
    with pytest.raises(CallFailed, match=problem):
        read_verdict(answer({"uid": "u"}, version), "u", version="v1", mutating=False)


def test_of_the_old_version_the_uid_is_not_looked_at() -> None:
    found = read_verdict(
        answer({"allowed": True}, "v1beta1"), "u", version="v1beta1", mutating=True
    )

    assert found.allowed


@pytest.mark.parametrize("content", [b"", b"hello", b"[]", b"\xff"])
def test_what_is_no_json_object_is_no_answer(content: bytes) -> None:
    with pytest.raises(CallFailed, match="failed to call webhook"):
        read_verdict(content, "u", version="v1", mutating=False)


@pytest.mark.parametrize(
    ("status", "code", "reason", "said"),
    [
        (None, 400, "", " without explanation"),
        ({"message": "no", "code": 403, "reason": "Forbidden"}, 403, "Forbidden", ": no"),
        ({"reason": "Invalid"}, 400, "Invalid", ": Invalid"),
        ({"code": 200, "message": "fine"}, 400, "", ": fine"),
        ({"code": "x"}, 400, "", " without explanation"),
    ],
)
def test_a_denial_has_the_webhooks_code_reason_and_message(
    status: dict[str, Any] | None, code: int, reason: str, said: str
) -> None:
    refusal = denial("a.example.org", status)

    assert (refusal.code, refusal.reason) == (code, reason)
    assert refusal.message == f'admission webhook "a.example.org" denied the request{said}'


@pytest.mark.parametrize("details", [None, {"name": "x", "causes": [{"field": "spec"}]}])
def test_a_denial_has_the_webhooks_details_and_no_others(details: dict[str, Any] | None) -> None:
    refusal = denial("a", {"reason": "Forbidden", "details": details})

    assert status_document(refusal).get("details") == details
