"""Only what is needed is asked of a server, and what it refuses is not the end."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
SERVICES = "/api/v1/namespaces/default/services"
NODES = "/api/v1/nodes"
NO_SERVICES = {"apiVersion": "v1", "kind": "ServiceList", "metadata": {}, "items": []}

Documents = Mapping[str, Mapping[str, Any]]


def pod(name: str = "web", **spec: Any) -> dict[str, Any]:
    env = [
        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "database", "key": "b"}}},
    ]
    containers = [
        {"name": "web", "env": env},
        {"name": "sidecar", "envFrom": [{"configMapRef": {"name": "others"}}]},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": "u", "labels": {"app": "web"}},
        "spec": {
            "enableServiceLinks": True,
            "nodeName": "node-1",
            "containers": containers,
            "volumes": [{"name": "v", "secret": {"secretName": "keys", "defaultMode": 420}}],
            **spec,
        },
    }


SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "default", "resourceVersion": "12"},
    "data": {"a": "1"},
}
DATABASE = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "database", "namespace": "default"},
    "data": {"b": base64.b64encode(b"geheim").decode()},
}
KUBERNETES = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "kubernetes", "namespace": "default"},
    "spec": {"clusterIP": "10.96.0.1", "ports": [{"port": 443, "protocol": "TCP"}]},
}


class Asked:
    """One command, what it printed and what it asked for."""

    def __init__(self, code: int, output: str, errors: str, targets: list[str]) -> None:
        self.code = code
        self.output = output
        self.errors = errors
        self.targets = targets


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Any:
    def ask(documents: Documents, *arguments: str) -> Asked:
        api = ScriptedApi(documents)
        with api.serving():
            code = reflet(api, *arguments)
        return Asked(code, *capsys.readouterr(), api.targets)

    return ask


def usual(**others: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        f"{PODS}/web": pod(),
        f"{CONFIG_MAPS}/settings": SETTINGS,
        f"{SECRETS}/database": DATABASE,
        SERVICES: {**NO_SERVICES, "items": [KUBERNETES]},
        **others,
    }


def test_only_what_the_container_names_is_asked_for(ask: Any) -> None:
    asked = ask(usual(), "env", "web")

    assert asked.code == 0
    assert asked.targets[0] == f"{PODS}/web"
    assert sorted(asked.targets[1:]) == [
        f"{CONFIG_MAPS}/settings",
        f"{SECRETS}/database",
        f"{SERVICES}?limit=500",
    ]


def test_sources_have_the_version_that_was_read(ask: Any) -> None:
    asked = ask(usual(), "env", "pod/web", "-o", "json")

    variables = json.loads(asked.output)["variables"]
    assert variables[0]["source"]["resourceVersion"] == "12"
    assert variables[2]["name"] == "KUBERNETES_SERVICE_HOST"


def test_an_object_that_is_missing_is_what_the_kubelet_would_say(ask: Any) -> None:
    documents = usual()
    del documents[f"{CONFIG_MAPS}/settings"]

    asked = ask(documents, "env", "web")

    assert asked.code == 1
    assert 'kubelet: configmap "settings" not found' in asked.errors


def test_a_forbidden_object_is_a_problem_and_not_the_end(ask: Any) -> None:
    no = refusal(403, "Forbidden", 'secrets "database" is forbidden')

    asked = ask(usual(**{f"{SECRETS}/database": no}), "env", "web")

    assert asked.code == 1
    assert asked.output.splitlines()[1].split() == ["A", "1", "configmap/settings", "a"]
    assert (
        'Secret default/database could not be read: secrets "database" is forbidden' in asked.errors
    )


def test_an_unknown_container_is_noticed_before_anything_else_is_asked_for(ask: Any) -> None:
    asked = ask(usual(), "env", "web", "-c", "wbe")

    assert (asked.code, asked.targets) == (2, [f"{PODS}/web"])
    assert asked.errors == "error: pod/web has no container 'wbe'; it has web, sidecar\n"


def test_a_forbidden_pod_is_the_end(ask: Any) -> None:
    no = refusal(403, "Forbidden", 'pods "web" is forbidden')

    asked = ask({f"{PODS}/web": no}, "env", "web")

    assert (asked.code, asked.output) == (4, "")


def test_a_missing_pod_is_the_end_and_what_is_there_is_told(ask: Any) -> None:
    others = {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [pod("web-1")]}

    asked = ask({PODS: others}, "env", "wbe-1")

    assert (asked.code, asked.output) == (2, "")
    assert asked.errors == (
        "error: there is no pod/wbe-1 in namespace default; did you mean pod/web-1?\n"
    )


def test_a_server_that_does_not_know_us_is_the_end_whatever_it_answered_first(ask: Any) -> None:
    no = refusal(401, "Unauthorized", "Unauthorized")

    asked = ask(usual(**{f"{SECRETS}/database": no}), "env", "web")

    assert (asked.code, asked.output) == (3, "")


def test_services_that_may_not_be_listed_are_a_problem(ask: Any) -> None:
    no = refusal(403, "Forbidden", "services is forbidden")

    asked = ask(usual(**{SERVICES: no}), "env", "web")

    assert asked.code == 1
    assert "the services could not be listed: services is forbidden" in asked.errors


def test_without_service_links_only_the_servers_own_service_is_asked_for(ask: Any) -> None:
    documents = usual(
        **{f"{PODS}/web": pod(enableServiceLinks=False), f"{SERVICES}/kubernetes": KUBERNETES}
    )

    asked = ask(documents, "env", "web")

    assert f"{SERVICES}/kubernetes" in asked.targets
    assert f"{SERVICES}?limit=500" not in asked.targets


def test_the_servers_own_service_may_be_unreadable(ask: Any) -> None:
    asked = ask(usual(**{f"{PODS}/web": pod(enableServiceLinks=False)}), "env", "web")

    assert asked.code == 0
    assert "note: service default/kubernetes could not be read" in asked.errors


def test_the_node_is_asked_for_only_if_something_shows_it(ask: Any) -> None:
    limit = {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    shows = pod(containers=[{"name": "web", "env": [limit]}])
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "4"}},
    }

    asked = ask(usual(**{f"{PODS}/web": shows, f"{NODES}/node-1": node}), "env", "web", "-o", "sh")

    assert "export CPU='4'\n" in asked.output
    assert f"{NODES}/node-1" in asked.targets


def test_a_node_that_may_not_be_read_is_not_known(ask: Any) -> None:
    limit = {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    no = refusal(403, "Forbidden", 'nodes "node-1" is forbidden')
    documents = {
        f"{PODS}/web": pod(containers=[{"name": "web", "env": [limit]}]),
        f"{NODES}/node-1": no,
    }

    asked = ask(usual(**documents), "env", "web")

    assert asked.code == 0
    assert "‹not known yet›   limits.cpu of web" in asked.output
    assert "note: node node-1 could not be read, so it is not known" in asked.errors


def test_a_workload_means_its_template(ask: Any) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop", "namespace": "default"},
        "spec": {"template": {"spec": {"containers": [{"name": "web"}]}}},
    }
    path = "/apis/apps/v1/namespaces/default/deployments/shop"

    asked = ask(usual(**{path: deployment}), "refs", "deploy", "shop", "-o", "json")

    assert json.loads(asked.output)["workload"] == {"kind": "Deployment", "name": "shop"}
    assert asked.targets == [path]


@pytest.mark.parametrize(
    ("names", "code", "message"),
    [
        ((), 2, "no pods with app=web in namespace default"),
        (("a", "b"), 2, "several pods have app=web: pod/a, pod/b; name one"),
        (("a",), 0, "pod/a names no ConfigMap"),
    ],
)
def test_a_selector_must_mean_one_pod(
    ask: Any, names: tuple[str, ...], code: int, message: str
) -> None:
    items = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": []}}
        for name in names
    ]
    listing = {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": items}

    asked = ask({PODS: listing}, "refs", "-l", "app=web")

    assert asked.code == code
    assert message in asked.errors


def test_a_selector_may_look_in_all_namespaces(ask: Any) -> None:
    listing = {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []}

    asked = ask({"/api/v1/pods": listing}, "refs", "-A", "-l", "app=web")

    assert asked.targets == ["/api/v1/pods?labelSelector=app%3Dweb&limit=500"]
    assert "error: no pods with app=web\n" in asked.errors


def test_tokens_are_requested_only_to_be_written(ask: Any, tmp_path: Any) -> None:
    token = {"path": "token", "expirationSeconds": 600, "audience": "shop"}
    volume = {
        "name": "t",
        "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": token}]},
    }
    path = "/api/v1/namespaces/default/serviceaccounts/default/token"
    answer = {"status": {"token": "abc", "expirationTimestamp": "2030-01-01T00:00:00Z"}}
    documents = {f"{PODS}/web": pod(volumes=[volume]), path: answer}

    listed = ask(documents, "files", "web")
    written = ask(documents, "files", "web", "--to", str(tmp_path))

    assert path not in listed.targets
    assert path in written.targets
    assert (tmp_path / "t/token").read_text() == "abc"


def test_a_token_that_is_refused_is_a_problem_and_nothing_is_written(
    ask: Any, tmp_path: Any
) -> None:
    volume = {
        "name": "t",
        "projected": {
            "defaultMode": 420,
            "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}],
        },
    }
    documents = {f"{PODS}/web": pod(volumes=[volume])}

    asked = ask(documents, "files", "web", "--to", str(tmp_path / "out"))

    assert asked.code == 1
    assert "volume t would not be set up" in asked.errors
    assert not (tmp_path / "out").exists()
