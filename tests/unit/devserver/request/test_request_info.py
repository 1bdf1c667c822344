"""Paths and queries, taken apart."""

from __future__ import annotations

import pytest

from reflet.devserver.request.request_info import ApiRequest, RequestTarget, target_of
from reflet.errors import BadRequest


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/nodes", RequestTarget("", "v1", "nodes")),
        ("/api/v1/nodes/n", RequestTarget("", "v1", "nodes", None, "n")),
        ("/api/v1/nodes/n/status", RequestTarget("", "v1", "nodes", None, "n", "status")),
        ("/api/v1/namespaces", RequestTarget("", "v1", "namespaces")),
        ("/api/v1/namespaces/", RequestTarget("", "v1", "namespaces")),
        ("/api/v1/namespaces/a", RequestTarget("", "v1", "namespaces", None, "a")),
        ("/api/v1/namespaces/a/status", RequestTarget("", "v1", "namespaces", None, "a", "status")),
        ("/api/v1/namespaces/a/pods", RequestTarget("", "v1", "pods", "a")),
        ("/api/v1/namespaces/a/pods/p/log", RequestTarget("", "v1", "pods", "a", "p", "log")),
        ("/apis/apps/v1/deployments", RequestTarget("apps", "v1", "deployments")),
        (
            "/api/v1/watch/namespaces/a/pods/p",
            RequestTarget("", "v1", "pods", "a", "p", watched=True),
        ),
        ("/api/v1", None),
        ("/apis/apps/v1", None),
        ("/version", None),
        ("/", None),
    ],
)
def test_a_path_is_about_a_collection_an_object_or_nothing(
    path: str, target: RequestTarget | None
) -> None:
    assert target_of(path) == target


def test_of_a_parameter_given_twice_the_first_counts() -> None:
    request = ApiRequest.read("GET", "/x?limit=1&limit=2&dryRun=All&dryRun=Some")

    assert request.integer("limit") == 1
    assert request.dry_run == ("All", "Some")


@pytest.mark.parametrize(
    ("query", "expected"),
    [("watch", True), ("watch=1", True), ("watch=foo", True), ("watch=false", False), ("", False)],
)
def test_a_flag_is_set_by_anything_but_false(query: str, expected: bool) -> None:
    assert ApiRequest.read("GET", f"/x?{query}").flag("watch") is expected


@pytest.mark.parametrize(
    ("text", "said"),
    [("x", "invalid syntax"), ("1.5", "invalid syntax"), ("9" * 30, "value out of range")],
)
def test_what_is_no_number_is_refused_in_gos_words(text: str, said: str) -> None:
    request = ApiRequest.read("GET", f"/x?limit={text}")

    with pytest.raises(BadRequest) as refused:
        request.integer("limit")

    assert refused.value.message == f'strconv.ParseInt: parsing "{text}": {said}'


@pytest.mark.parametrize(
    ("query", "agent", "manager"),
    [
        ("fieldManager=me", "kubectl/v1.32", "me"),
        ("", "kubectl/v1.32 (linux)", "kubectl"),
        ("", "", "unknown"),
    ],
)
def test_a_manager_is_named_by_the_parameter_or_the_program(
    query: str, agent: str, manager: str
) -> None:
    assert ApiRequest.read("POST", f"/x?{query}", agent).field_manager == manager
