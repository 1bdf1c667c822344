"""The real API server is what the other tests in this folder take it for.

Asked with the standard library only, so that these tests say whether the server or our client
is at fault when both fail.
"""

from __future__ import annotations

import stat
import threading
from contextlib import closing
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.patience import Deadline
from tests.real.access_rules import Role
from tests.real.api_connection import Answer, ApiConnection
from tests.real.kube_server import KubeServer

EXPIRED = (410, "Expired")


def collection(namespace: str, plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}"


def config_map(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"colour": "green"}}


def event(name: str, namespace: str) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "web", "namespace": namespace}
    return {"metadata": {"name": name}, "involvedObject": about, "message": name}


def create_all(kube: KubeServer, path: str, *bodies: object) -> None:
    with kube.connect() as connection:
        for body in bodies:
            connection.create(path, body)


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.code, answer.reason


def test_the_version_is_1_36(kube: KubeServer) -> None:
    assert kube.request("GET", "/version").body["gitVersion"].startswith("v1.36.")


def test_the_administrator_may_do_everything(kube: KubeServer) -> None:
    review = {"spec": {"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}}

    answer = kube.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)

    assert answer.body["status"]["allowed"] is True


@pytest.mark.parametrize(
    "path",
    ["configmaps", "secrets/known", "secrets?fieldSelector=metadata.name%3Dknown"],
)
def test_the_restricted_user_reads_what_its_role_names(kube: KubeServer, path: str) -> None:
    assert kube.request("GET", collection("allowed", path), role="restricted").code == 200


@pytest.mark.parametrize("path", ["allowed/secrets", "allowed/pods", "default/configmaps"])
def test_the_restricted_user_is_forbidden_the_rest(kube: KubeServer, path: str) -> None:
    answer = kube.request("GET", f"/api/v1/namespaces/{path}", role="restricted")

    assert refusal(answer) == (403, "Forbidden")


def test_an_unknown_token_is_unauthorized(kube: KubeServer) -> None:
    with kube.connect(None, token="nobody's") as connection:
        answer = connection.request("GET", collection("default"))

    assert refusal(answer) == (401, "Unauthorized")


def test_a_client_certificate_names_its_user(kube: KubeServer) -> None:
    with kube.connect(None, certificate=kube.client_certificate("ada", ["engines"])) as connection:
        answer = connection.request(
            "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"metadata": {}}
        )

    user = answer.body["status"]["userInfo"]
    assert (user["username"], user["groups"]) == ("ada", ["engines", "system:authenticated"])


def test_the_administrators_certificate_is_as_good_as_the_token(kube: KubeServer) -> None:
    with kube.connect(None, certificate=kube.admin_certificate) as connection:
        assert connection.request("GET", "/api/v1/secrets").code == 200


def test_an_expired_client_certificate_is_unauthorized(kube: KubeServer) -> None:
    expired = kube.client_certificate("ada", valid_for=timedelta(hours=-1))

    with kube.connect(None, certificate=expired) as connection:
        answer = connection.request("GET", collection("default"))

    assert refusal(answer) == (401, "Unauthorized")


def test_a_service_accounts_token_can_be_requested_and_used(
    kube: KubeServer, namespace: str
) -> None:
    accounts = collection(namespace, "serviceaccounts")
    create_all(kube, accounts, {"metadata": {"name": "robot"}})
    request = {"spec": {"expirationSeconds": 600}}
    token = kube.request("POST", f"{accounts}/robot/token", request).body["status"]["token"]

    with kube.connect(None, token=token) as connection:
        answer = connection.request("GET", collection(namespace))

    assert f"system:serviceaccount:{namespace}:robot" in answer.body["message"]


def test_the_node_reads_a_secret_only_when_a_pod_bound_to_it_needs_it(
    kube: KubeServer, namespace: str
) -> None:
    create_all(kube, collection(namespace, "secrets"), {"metadata": {"name": "password"}})
    with kube.connect("node") as node:
        secret = collection(namespace, "secrets/password")
        before = node.request("GET", secret)

        create_all(kube, collection(namespace, "pods"), pod_with_secret("password"))

        assert refusal(before) == (403, "Forbidden")
        assert answers_in_time(node, secret, 200)


def pod_with_secret(name: str) -> dict[str, Any]:
    source = [{"secretRef": {"name": name}}]
    container = {"name": "web", "image": "example.com/web", "envFrom": source}
    return {
        "metadata": {"name": "web"},
        "spec": {"nodeName": "worker-1", "containers": [container]},
    }


def answers_in_time(connection: ApiConnection, path: str, code: int) -> bool:
    """The Node authorizer learns of pods by a watch of its own, a moment after they are made."""
    deadline = Deadline(10)
    while connection.request("GET", path).code != code:
        if deadline.passed:
            return False
    return True


def test_a_watch_streams_changes_as_they_happen(kube: KubeServer, namespace: str) -> None:
    configmaps = collection(namespace)
    with (
        kube.connect() as watcher,
        closing(watcher.watch(f"{configmaps}?watch=true&resourceVersion=0")) as events,
    ):
        create_all(kube, configmaps, config_map("first"))
        kube.request("DELETE", f"{configmaps}/first")

        assert [event["type"] for event in islice(events, 2)] == ["ADDED", "DELETED"]


def test_compaction_expires_an_older_continue_token(kube: KubeServer, namespace: str) -> None:
    events = collection(namespace, "events")
    create_all(kube, events, event("one", namespace), event("two", namespace))
    page = kube.request("GET", f"{events}?limit=1").body["metadata"]["continue"]

    kube.compact()

    assert refusal(kube.request("GET", f"{events}?limit=1&continue={page}")) == EXPIRED


def test_compaction_expires_a_list_at_an_older_version(kube: KubeServer, namespace: str) -> None:
    events = collection(namespace, "events")
    version = kube.request("GET", events).body["metadata"]["resourceVersion"]

    kube.compact()

    exact = f"{events}?resourceVersion={version}&resourceVersionMatch=Exact"
    assert refusal(kube.request("GET", exact)) == EXPIRED


def test_compaction_expires_a_watch_from_an_older_version(kube: KubeServer, namespace: str) -> None:
    version = kube.request("GET", collection(namespace, "events")).body["metadata"][
        "resourceVersion"
    ]

    kube.compact()

    assert first_event(kube, namespace, "events", since=version) == ("ERROR", *EXPIRED)


def test_compaction_and_a_restart_expire_the_versions_of_a_cached_kind(
    kube: KubeServer, namespace: str
) -> None:
    configmaps = collection(namespace)
    create_all(kube, configmaps, config_map("one"), config_map("two"))
    first_page = kube.request("GET", f"{configmaps}?limit=1").body["metadata"]

    kube.compact()
    kube.restart_apiserver(patience=0)

    version, page = first_page["resourceVersion"], first_page["continue"]
    assert refusal(kube.request("GET", f"{configmaps}?limit=1&continue={page}")) == EXPIRED
    assert first_event(kube, namespace, "configmaps", since=version) == ("ERROR", *EXPIRED)


def first_event(
    kube: KubeServer, namespace: str, plural: str, *, since: str
) -> tuple[str, int, str]:
    path = f"{collection(namespace, plural)}?watch=true&resourceVersion={since}"
    with kube.connect() as watcher, closing(watcher.watch(path)) as events:
        first = next(events)
    return first["type"], first["object"]["code"], first["object"]["reason"]


@pytest.mark.parametrize("role", ["admin", "restricted", "node"])
def test_a_kubeconfig_is_for_its_owner_only(kube: KubeServer, tmp_path: Path, role: Role) -> None:
    path = kube.write_kubeconfig(tmp_path / "config", role)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kube.tokens[role] in path.read_text()


def test_a_restart_in_a_worker_thread_outlives_the_thread(kube: KubeServer) -> None:
    worker = threading.Thread(target=kube.restart_apiserver, name="restart")
    worker.start()
    worker.join()

    assert kube.request("GET", "/readyz").body == "ok"


def test_during_an_outage_connections_are_refused(kube: KubeServer) -> None:
    with kube.outage(patience=0), pytest.raises(ConnectionRefusedError):
        kube.request("GET", "/readyz")
