"""``reflet why`` about workloads and namespaces, on a real API server, and in its own words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from reflet.errors import Forbidden
from reflet.insight.why.creation_reasons import refusal
from tests import why_scenes
from tests.insight_scenes import Commands
from tests.real.kube_server import KubeServer
from tests.real.test_insight_commands import until_deployments_can_be_listed
from tests.why_scenes import Stage

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture
def config(kube: KubeServer, namespace: str, tmp_path: Path) -> Path:
    return kube.write_kubeconfig(tmp_path / "config", namespace=namespace)


@pytest.fixture
def commands(
    config: Path, namespace: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Commands:
    return Commands(config, namespace, capsys, tmp_path)


@pytest.fixture
def stage(kube: KubeServer, namespace: str) -> Stage:
    def path(collection: str) -> str:
        root, _, plural = collection.rpartition("/")
        return f"{root or '/api/v1'}/namespaces/{namespace}/{plural}"

    def create(collection: str, document: Mapping[str, Any]) -> Any:
        with kube.connect() as connection:
            return connection.create(path(collection), document)

    def set_status(collection: str, item: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        name = item["metadata"]["name"]
        with kube.connect() as connection:
            current = connection.request("GET", f"{path(collection)}/{name}").body
            answer = connection.request(
                "PUT", f"{path(collection)}/{name}/status", {**current, "status": status}
            )
        assert answer.code == 200, answer.body

    with kube.connect() as connection:
        node = connection.create("/api/v1/nodes", {"metadata": {"name": namespace}})
        answer = connection.request(
            "PUT", f"/api/v1/nodes/{namespace}/status", {**node, "status": why_scenes.READY_NODE}
        )
        assert answer.code == 200, answer.body
    return Stage(create, set_status, namespace)


@pytest.mark.parametrize(
    "check",
    [each for name, each in vars(why_scenes).items() if name.startswith("check_")],
    ids=lambda check: check.__name__.removeprefix("check_"),
)
def test_scene(check: Callable[[Commands, Stage], None], commands: Commands, stage: Stage) -> None:
    check(commands, stage)


# What the server's own admission says


def asking(cpu: str, **more: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    return {"containers": [{"name": "web", "image": "i", "resources": resources}], **more}


def refused(kube: KubeServer, namespace: str, spec: Mapping[str, Any]) -> str:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}, "spec": spec}
    answer = kube.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
    assert answer.code == 403, answer.body
    return str(answer.body["message"])


@pytest.mark.parametrize(
    ("collection", "document", "spec", "kind"),
    [
        (
            "resourcequotas",
            {"metadata": {"name": "q"}, "spec": {"hard": {"count/pods": "0"}}},
            asking("1"),
            "QuotaExceeded",
        ),
        (
            "resourcequotas",
            {"metadata": {"name": "q"}, "spec": {"hard": {"limits.memory": "1Gi"}}},
            asking("1"),
            "QuotaNeedsResources",
        ),
        (
            "limitranges",
            {
                "metadata": {"name": "l"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]},
            },
            asking("1"),
            "LimitRangeViolated",
        ),
        ("", {}, asking("1", priorityClassName="no-such-class"), "AbsentObject"),
        ("", {}, asking("1", runtimeClassName="no-such-class"), "AbsentObject"),
    ],
)
def test_the_words_of_admission_are_understood(
    kube: KubeServer,
    namespace: str,
    stage: Stage,
    collection: str,
    document: Mapping[str, Any],
    spec: Mapping[str, Any],
    kind: str,
) -> None:
    if collection:
        made = stage.create(collection, document)
        if collection == "resourcequotas":  # a controller would count; here nothing is used yet
            hard = document["spec"]["hard"]
            stage.set_status(collection, made, {"hard": hard, "used": dict.fromkeys(hard, "0")})

    words = refused(kube, namespace, spec)

    assert refusal(f"Error creating: {words}", namespace).type == kind, words


def test_the_words_of_pod_security_are_understood(kube: KubeServer, namespace: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    answer = kube.request("GET", f"/api/v1/namespaces/{namespace}")
    changed = {**answer.body, "metadata": {**answer.body["metadata"], "labels": labels}}
    assert kube.request("PUT", f"/api/v1/namespaces/{namespace}", changed).code == 200

    words = refused(kube, namespace, asking("1"))

    found = refusal(words, namespace)
    assert found.type == "PodSecurityViolated"
    assert f"namespace {namespace} enforces PodSecurity restricted:latest" in found.message


# Rights


def test_what_may_not_be_listed_is_said_and_the_rest_goes_on(
    config: Path, namespace: str, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    user = f"half-{namespace}"
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]}
    stage.create(f"{RBAC}/roles", {"metadata": {"name": "half"}, "rules": [rule]})
    stage.create(
        f"{RBAC}/rolebindings",
        {
            "metadata": {"name": "half"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "half"},
            "subjects": [{"kind": "User", "name": user}],
        },
    )
    stage.deployed("idle", replicas=0)
    asyncio.run(until_deployments_can_be_listed(config, user))

    code = run(["reflet", "why", "-o", "json", "--as", user, "--kubeconfig", str(config)])

    document = json.loads(capsys.readouterr().out)
    assert (code, document["totals"]["workloads"]) == (0, 1)
    assert "pods: forbidden, it takes list of pods" in document["notLookedAt"]
    assert "events: forbidden, it takes list of events" in document["notLookedAt"]


def test_who_may_list_nothing_is_told_so(
    kube: KubeServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = kube.write_kubeconfig(tmp_path / "restricted", "restricted", namespace="default")

    code = run(["reflet", "why", "--kubeconfig", str(config)])

    output = capsys.readouterr()
    assert (code, output.out) == (4, "")
    assert Forbidden.__name__.lower() in output.err
