"""``reflet rbac --sidecar``: what a sidecar must be allowed to read."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet
from tests.unit.cli.shop_files import OnFiles
from tests.unit.insight.sidecar_pods import container

GRAFANA: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: grafana, namespace: monitoring}
spec:
  containers:
  - name: dashboards
    image: quay.io/kiwigrid/k8s-sidecar:2.10.1
    env:
    - {name: LABEL, value: grafana_dashboard}
    - {name: FOLDER, value: /tmp/dashboards}
    - {name: RESOURCE, value: both}
"""
OWN: Final = "/api/v1/namespaces/default/pods/grafana"
SETTINGS: Final = "/api/v1/namespaces/default/configmaps/settings"


def on_server(**variables: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "grafana", "namespace": "default"},
        "spec": {"containers": [container(**variables)]},
    }


def here(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_a_sidecar_of_files_gets_a_role_of_its_namespace(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA, "rbac", "--sidecar", "--subject", "sa:grafana")

    assert (shown.code, shown.errors) == (0, "")
    assert (
        shown.output
        == """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reflet-grafana
  namespace: monitoring
rules:
# a sidecar picks them up by label grafana_dashboard; rights cannot be limited
# to a label
- apiGroups:
  - ""
  resources:
  - configmaps
  - secrets
  verbs:
  - list
  - watch
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reflet-grafana
  namespace: monitoring
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reflet-grafana
subjects:
- kind: ServiceAccount
  name: grafana
  namespace: monitoring
"""
    )


def test_verbs_can_be_chosen(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA, "rbac", "--sidecar", "--verbs", "get,list,watch", "-o", "json")

    (role,) = json.loads(shown.output)["items"]
    assert role["rules"][0]["verbs"] == ["get", "list", "watch"]


def test_without_a_pod_the_variables_are_those_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here(monkeypatch, LABEL="a", FOLDER="/f", NAMESPACE="ALL")

    code = run(["reflet", "rbac", "--sidecar", "-o", "json"])

    (role,) = json.loads(capsys.readouterr().out)["items"]
    assert (code, role["kind"]) == (0, "ClusterRole")
    assert role["metadata"]["name"] == "reflet-sidecar"


def test_its_own_namespace_is_that_of_the_flag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here(monkeypatch, LABEL="a", FOLDER="/f", RESOURCE_NAME="x")

    code = run(["reflet", "rbac", "--sidecar", "-n", "shop", "-o", "json"])

    (role,) = json.loads(capsys.readouterr().out)["items"]
    assert (code, role["metadata"]["namespace"]) == (0, "shop")
    assert role["rules"][0]["resourceNames"] == ["x"]


def test_its_own_namespace_is_that_of_the_context(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here(monkeypatch, LABEL="a", FOLDER="/f")

    code = run(["reflet", "rbac", "--sidecar", "-s", "http://127.0.0.1:1", "-o", "json"])

    (role,) = json.loads(capsys.readouterr().out)["items"]
    assert (code, role["metadata"]["namespace"]) == (0, "default")


def test_other_variables_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["reflet", "rbac", "--sidecar"])

    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert output.err.startswith(
        "error: the variables are not those of a sidecar: LABEL is not set; set them, or name a pod"
    )


def test_a_pod_without_a_sidecar_is_a_mistake(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA.replace("LABEL", "OTHER"), "rbac", "--sidecar")

    assert (shown.code, shown.output) == (2, "")
    assert shown.errors.startswith("error: no sidecar in pod/grafana: that is a container with")


def test_a_server_is_asked_for_what_the_variables_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "where"}}
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
        "data": {"where": "shop,bank"},
    }
    api = ScriptedApi({OWN: on_server(NAMESPACE=source), SETTINGS: settings})

    with api.serving():
        code = reflet(api, "rbac", "grafana", "--sidecar", "-o", "json")

    items = json.loads(capsys.readouterr().out)["items"]
    assert (code, api.targets) == (0, [OWN, SETTINGS])
    assert [item["metadata"]["namespace"] for item in items] == ["shop", "bank"]


def test_a_namespace_that_is_not_known_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "where"}}
    api = ScriptedApi({OWN: on_server(NAMESPACE=source)})

    with api.serving():
        code = reflet(api, "rbac", "grafana", "--sidecar")

    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert output.err.startswith("error: pod/grafana, container dashboards: NAMESPACE not known: ")
