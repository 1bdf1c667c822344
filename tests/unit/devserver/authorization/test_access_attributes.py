"""What a request asks leave for."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.selectors.fields import FieldRequirement
from reflet.devserver.authorization.access_attributes import (
    AccessAttributes,
    attributes_of,
    attributes_of_review,
)
from reflet.devserver.request.request_info import ApiRequest, target_of

SECRETS = "/api/v1/namespaces/shop/secrets"


def read(method: str, path: str) -> AccessAttributes:
    request = ApiRequest.read(method, path)
    return attributes_of(request, target_of(request.path))


def secret(verb: str, name: str = "", subresource: str = "", **fields: str) -> AccessAttributes:
    requirements = tuple(
        FieldRequirement(f"{part}.{field}", value)
        for path, value in fields.items()
        for part, field in [path.split("_")]
    )
    return AccessAttributes(
        verb,
        resource="secrets",
        subresource=subresource,
        namespace="shop",
        name=name,
        fields=requirements,
    )


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("GET", f"{SECRETS}/a", secret("get", "a")),
        ("HEAD", f"{SECRETS}/a", secret("get", "a")),
        ("PUT", f"{SECRETS}/a", secret("update", "a")),
        ("PATCH", f"{SECRETS}/a/status", secret("patch", "a", "status")),
        ("GET", f"{SECRETS}/a/proxy/b/c", secret("get", "a", "proxy")),
        ("POST", SECRETS, secret("create")),
        ("DELETE", f"{SECRETS}/a", secret("delete", "a")),
        ("DELETE", SECRETS, secret("deletecollection")),
        ("BREW", f"{SECRETS}/a", secret("", "a")),
        ("GET", SECRETS, secret("list")),
        ("GET", f"{SECRETS}?watch=1", secret("watch")),
        ("GET", f"{SECRETS}?watch=false", secret("list")),
        (
            "GET",
            f"{SECRETS}?fieldSelector=metadata.name=a",
            secret("list", "a", metadata_name="a"),
        ),
        (
            "GET",
            f"{SECRETS}?watch=1&fieldSelector=metadata.name==a",
            secret("watch", "a", metadata_name="a"),
        ),
        (
            "GET",
            f"{SECRETS}?fieldSelector=metadata.name=a%2Fb",
            secret("list", metadata_name="a/b"),
        ),
        ("GET", f"{SECRETS}?fieldSelector=nonsense", secret("list")),
        (
            "DELETE",
            f"{SECRETS}?fieldSelector=metadata.name=a",
            secret("deletecollection", metadata_name="a"),
        ),
        (
            "GET",
            "/api/v1/watch/namespaces/shop/secrets?fieldSelector=metadata.name=a",
            secret("watch"),
        ),
        ("GET", "/api/v1/watch/namespaces/shop/secrets/a", secret("watch", "a")),
    ],
)
def test_the_verb_and_the_name_of_a_request(
    method: str, path: str, asked: AccessAttributes
) -> None:
    assert read(method, path) == asked


def test_a_namespace_is_in_itself() -> None:
    asked = read("GET", "/api/v1/namespaces/shop")

    assert (asked.resource, asked.namespace, asked.name) == ("namespaces", "shop", "shop")


def test_a_path_that_is_no_resource_is_a_page() -> None:
    assert read("POST", "/healthz") == AccessAttributes("post", "/healthz")


def test_a_resource_that_nobody_serves_is_asked_for_all_the_same() -> None:
    assert read("GET", "/apis/no.such/v1/things/a").qualified == "things.no.such"


@pytest.mark.parametrize(
    "selector",
    [
        {"rawSelector": "spec.nodeName=a"},
        {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]},
    ],
)
def test_a_review_may_ask_about_a_selector(selector: Any) -> None:
    question = {"verb": "list", "resource": "pods", "fieldSelector": selector}

    asked = attributes_of_review({"resourceAttributes": question})

    assert asked.selects("spec.nodeName", "a")


@pytest.mark.parametrize(
    "requirement",
    [
        {"key": "spec.nodeName", "operator": "NotIn", "values": ["a"]},
        {"key": "spec.nodeName", "operator": "In", "values": ["a", "b"]},
        {"key": "spec.nodeName", "operator": "Exists"},
        {"key": "a=b,c", "operator": "In", "values": ["a"]},
    ],
)
def test_a_requirement_that_chooses_no_one_value_grants_nothing(requirement: Any) -> None:
    question = {"resource": "pods", "fieldSelector": {"requirements": [requirement]}}

    asked = attributes_of_review({"resourceAttributes": question})

    assert not asked.selects("spec.nodeName", "a")


def test_a_review_may_ask_about_a_page() -> None:
    page = {"verb": "get", "path": "/metrics"}

    assert attributes_of_review({"nonResourceAttributes": page}) == AccessAttributes(
        "get", "/metrics"
    )
