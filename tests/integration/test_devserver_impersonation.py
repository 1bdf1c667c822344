"""Acting as somebody else, over real sockets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.certificate_texts import REQUEST
from tests.integration.plain_client import MERGE_PATCH, Client, config_map, pod

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
NODE = {"Impersonate-User": "system:node:worker-1", "Impersonate-Group": "system:nodes"}
SECRET = "/api/v1/namespaces/default/secrets/key"


def user_info(client: Client, headers: dict[str, str]) -> Any:
    return client.request("POST", WHO_AM_I, {}, headers).body["status"]["userInfo"]


def test_one_is_whom_one_acts_as(client: Client) -> None:
    found = user_info(client, {"Impersonate-User": "jane", "Impersonate-Extra-Team": "blue"})

    assert found == {
        "username": "jane",
        "groups": ["system:authenticated"],
        "extra": {"team": ["blue"]},
    }


def test_nobody_who_is_not_known_acts_as_anybody(client: Client) -> None:
    codes = [
        client.with_token("wrong").get(path, **{"Impersonate-User": "jane"}).code
        for path in ("/version", "/api/v1/namespaces")
    ]

    assert codes == [401, 401]


def test_a_web_page_acts_as_nobody_either(client: Client) -> None:
    page = {"Origin": "https://example.com", "Impersonate-User": "jane"}

    assert client.with_token("").get("/api/v1/namespaces", **page).code == 401


def test_whoever_asks_for_a_certificate_is_named_in_the_request(client: Client) -> None:
    made = {
        "metadata": {"name": "mine"},
        "spec": {"request": REQUEST, "signerName": "example.com/x", "usages": ["client auth"]},
    }

    answer = client.request(
        "POST",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        made,
        {"Impersonate-User": "jane", "Impersonate-Uid": "7"},
    )

    spec = answer.body["spec"]
    named = {field: spec[field] for field in ("username", "uid", "groups")}
    assert named == {"username": "jane", "uid": "7", "groups": ["system:authenticated"]}


def test_a_node_reads_what_its_pods_need_for_as_long_as_they_are_there(client: Client) -> None:
    client.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "key"}})
    codes = [client.get(SECRET, **NODE).code]
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("web", nodeName="worker-1", imagePullSecrets=[{"name": "key"}]))
    codes.append(client.get(SECRET, **NODE).code)
    client.request("DELETE", f"{pods}/web", None)
    refused = client.get(SECRET, **NODE)

    assert [*codes, refused.code] == [403, 200, 403]
    assert refused.message == (
        'secrets "key" is forbidden: User "system:node:worker-1" cannot get resource "secrets" in '
        'API group "" in the namespace "default": no relationship found between node \'worker-1\' '
        "and this object"
    )


def test_an_open_watch_outlives_the_last_pod_and_cannot_be_renewed(client: Client) -> None:
    client.create("/api/v1/namespaces/default/secrets", {"metadata": {"name": "key"}})
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("web", nodeName="worker-1", imagePullSecrets=[{"name": "key"}]))
    watch = f"{SECRET.removesuffix('/key')}?watch=1&fieldSelector=metadata.name=key"

    with client.watch(watch, **NODE) as watched:
        first = watched.event()["type"]
        client.request("DELETE", f"{pods}/web", None)
        client.request("PATCH", SECRET, b'{"immutable": true}', MERGE_PATCH)
        second = watched.event()["type"]

    assert (first, second, client.get(watch, **NODE).code) == ("ADDED", "MODIFIED", 403)


def test_a_trial_of_an_eviction_leaves_the_pod_alone(client: Client) -> None:
    pods = "/api/v1/namespaces/default/pods"
    client.create(pods, pod("web"))

    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    answer = client.request("POST", f"{pods}/web/eviction?dryRun=All", eviction)

    assert (answer.code, client.get(f"{pods}/web").code) == (201, 200)


@pytest.mark.parametrize("header", ["Impersonate-Group", "Impersonate-Uid"])
def test_a_group_without_a_user_is_a_mistake(client: Client, header: str) -> None:
    answer = client.get("/api/v1/namespaces", **{header: "x"})

    assert (answer.code, answer.reason) == (400, "BadRequest")


def test_whoever_is_no_node_may_do_everything(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"

    answer = client.request("POST", path, config_map("x"), {"Impersonate-User": "jane"})

    assert answer.code == 201
