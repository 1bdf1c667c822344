"""The decision on any user."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.authorization.access_attributes import AccessAttributes
from reflet.devserver.authorization.authorizer import Authorizer, rules_of
from reflet.devserver.request.authentication import ADMIN, UserInfo
from reflet.devserver.request.request_info import ApiRequest, target_of
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.errors import Forbidden

NODE = UserInfo("system:node:a", groups=("system:nodes", "system:authenticated"))
SECRET = AccessAttributes("get", resource="secrets", namespace="shop", name="key")
POD: dict[str, Any] = {
    "metadata": {"name": "web"},
    "spec": {"nodeName": "a", "imagePullSecrets": [{"name": "key"}]},
}


def refusal(path: str, user: UserInfo = NODE, method: str = "GET") -> Forbidden:
    request = ApiRequest.read(method, path)
    with pytest.raises(Forbidden) as refused:
        Authorizer(Storage()).check(user, request, target_of(request.path))
    return refused.value


@pytest.mark.parametrize(
    "user", [ADMIN, UserInfo("jane"), UserInfo("system:node:a"), UserInfo("a", "", NODE.groups)]
)
def test_whoever_is_no_node_may_do_everything(user: UserInfo) -> None:
    assert Authorizer(Storage()).decision(user, SECRET).is_allowed


def test_a_node_in_the_group_of_masters_may_do_everything() -> None:
    master = UserInfo(NODE.name, groups=("system:nodes", "system:masters"))

    assert Authorizer(Storage()).decision(master, SECRET).is_allowed


def test_what_was_stored_before_and_what_is_stored_later_counts() -> None:
    storage = Storage()
    storage.create(Key("pods", "shop", "web"), POD)
    authorizer = Authorizer(storage)

    early = authorizer.decision(NODE, SECRET).is_allowed
    storage.delete(Key("pods", "shop", "web"))
    gone = authorizer.decision(NODE, SECRET).is_allowed
    storage.create(Key("pods", "shop", "other"), POD)

    assert (early, gone, authorizer.decision(NODE, SECRET).is_allowed) == (True, False, True)


def test_nobody_follows_pods_until_a_node_asks() -> None:
    storage = Storage()
    authorizer = Authorizer(storage)
    authorizer.decision(ADMIN, SECRET)
    before = len(storage._subscribers)
    authorizer.decision(NODE, SECRET)

    assert (before, len(storage._subscribers)) == (0, 4)


@pytest.mark.parametrize(
    ("path", "said", "details"),
    [
        (
            "/api/v1/namespaces/shop/secrets/key",
            (
                'secrets "key" is forbidden: User "system:node:a" cannot get resource "secrets" in '
                'API group "" in the namespace "shop": '
                "no relationship found between node 'a' and this object"
            ),
            ("", "secrets", "key"),
        ),
        (
            "/apis/apps/v1/deployments/web/scale",
            (
                'deployments.apps "web" is forbidden: User "system:node:a" cannot get resource '
                '"deployments/scale" in API group "apps" at the cluster scope'
            ),
            ("apps", "deployments", "web"),
        ),
        ("/<b>", 'forbidden: User "system:node:a" cannot get path "/&lt;b&gt;"', ("", "", "")),
    ],
)
def test_a_refusal_says_who_wanted_what(path: str, said: str, details: tuple[str, ...]) -> None:
    refused = refusal(path)

    assert (refused.code, refused.reason, refused.message) == (403, "Forbidden", said)
    assert (refused.group, refused.kind, refused.name) == details


@pytest.mark.parametrize("path", ["/api", "/apis/apps/v1", "/openapi/v3/x", "/version", "/livez"])
def test_a_node_that_is_known_may_discover(path: str) -> None:
    decision = Authorizer(Storage()).decision(NODE, AccessAttributes("get", path))

    assert decision.is_allowed
    assert decision.reason.startswith("RBAC: allowed by ClusterRoleBinding")


@pytest.mark.parametrize(("path", "is_allowed"), [("/version", True), ("/api", False)])
def test_one_that_is_not_known_sees_the_open_pages(path: str, is_allowed: bool) -> None:
    stranger = UserInfo(NODE.name, groups=("system:nodes", "system:unauthenticated"))

    decision = Authorizer(Storage()).decision(stranger, AccessAttributes("get", path))

    assert decision.is_allowed is is_allowed


def test_the_rules_of_a_node_are_told_as_far_as_they_are_rules() -> None:
    told = rules_of(NODE)

    assert told["incomplete"] is True
    assert told["evaluationError"] == "node authorizer does not support user rule resolution"
    assert [rule["resources"] for rule in told["resourceRules"]] == [
        ["selfsubjectreviews"],
        ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    ]
    assert rules_of(ADMIN)["resourceRules"][0]["resources"] == ["*"]
