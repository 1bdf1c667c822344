"""``reflet used-by``: sidecars that pick up an object by its labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.unit.cli.commands.test_used_by import LISTS, lists_of
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal
from tests.unit.cli.shop_files import OnFiles
from tests.unit.insight.sidecar_pods import container

GRAFANA: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: grafana, namespace: monitoring}
spec:
  selector: {matchLabels: {app: grafana}}
  template:
    metadata: {labels: {app: grafana}}
    spec:
      containers:
      - name: grafana
        image: grafana/grafana
      - name: grafana-sc-dashboard
        image: quay.io/kiwigrid/k8s-sidecar:2.10.1
        envFrom: [{configMapRef: {name: sidecar}}]
        env:
        - {name: LABEL, value: grafana_dashboard}
        - {name: LABEL_VALUE, value: "1"}
        - {name: FOLDER, value: /tmp/dashboards}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: sidecar, namespace: monitoring}
data: {NAMESPACE: ALL}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dash, namespace: shop, labels: {grafana_dashboard: "1"}}
data: {shop.json: "{}"}
"""
OBJECT: Final = "/api/v1/namespaces/default/configmaps/dash"
ELSEWHERE: Final = {
    "/apis/apps/v1/deployments": "Deployment",
    "/apis/apps/v1/statefulsets": "StatefulSet",
    "/apis/apps/v1/daemonsets": "DaemonSet",
}


def dash(**labels: str) -> Mapping[str, Any]:
    metadata = {"name": "dash", "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}


def deployment(namespace: str, **variables: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "grafana", "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [container(**variables)]}}},
    }


def test_a_sidecar_is_a_user_of_files(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA, "used-by", "cm/dash", "-n", "shop", "-o", "wide")

    assert (shown.code, shown.errors) == (0, "")
    assert shown.output.splitlines() == [
        "USER                                                         KEYS   CHANGE",
        "deployment/grafana in monitoring",
        "  grafana-sc-dashboard: sidecar, label grafana_dashboard=1   *      live",
        "",
        "ConfigMap dash in namespace shop is used by 1 workload; after a change, none",
        "needs a restart",
    ]


def test_programs_get_the_selection(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA, "used-by", "cm/dash", "-n", "shop", "-o", "json")

    (use,) = json.loads(shown.output)["users"][0]["uses"]
    assert (use["as"], use["selection"]) == ("sidecar", "label grafana_dashboard=1")


def test_a_cluster_is_asked_for_sidecars_of_other_namespaces(
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = lists_of(
        ELSEWHERE, Deployment=[deployment("monitoring", NAMESPACE="ALL"), deployment("bank")]
    )
    api = ScriptedApi({**lists_of(LISTS), **there, OBJECT: dash(grafana_dashboard="1")})

    with api.serving():
        code = reflet(api, "used-by", "cm/dash", "-o", "json")

    document = json.loads(capsys.readouterr().out)
    assert code == 0
    assert [user["namespace"] for user in document["users"]] == ["monitoring"]
    assert document["lookedAt"]["workloads"] == 2


def test_a_label_that_every_chart_sets_is_no_reason_to_ask(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = {"app.kubernetes.io/name": "web", "release": "web"}
    api = ScriptedApi({**lists_of(LISTS), OBJECT: dash(**labels)})

    with api.serving():
        assert reflet(api, "used-by", "cm/dash") == 0

    capsys.readouterr()
    assert not [target for target in api.targets if target.startswith("/apis/apps/v1/deploy")]


def test_other_namespaces_that_may_not_be_listed_are_noted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    forbidden = dict.fromkeys(ELSEWHERE, refusal(403, "Forbidden", "not for you"))
    api = ScriptedApi({**lists_of(LISTS), **forbidden, OBJECT: dash(grafana_dashboard="1")})

    with api.serving():
        code = reflet(api, "used-by", "cm/dash")

    output = capsys.readouterr()
    assert code == 0
    assert output.err.count("note: ") == 2  # what the server has is not known here, either
    assert (
        "note: deployments.apps of other namespaces are left out, and the sidecars in them, "
        "which may pick it up by label: not for you\n"
    ) in output.err


def test_a_variable_that_was_not_read_is_said_not_to_be_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = {"configMapKeyRef": {"name": "settings", "key": "label"}}
    lists = lists_of(LISTS, Deployment=[deployment("default", LABEL=source)])
    api = ScriptedApi({**lists, **lists_of(ELSEWHERE), OBJECT: dash(mine="1")})

    with api.serving():
        reflet(api, "used-by", "cm/dash")

    output = capsys.readouterr().out
    assert "  dashboards: sidecar, LABEL not known   *      unknown\n" in output
    assert "what 1 user makes of it is not known" in " ".join(output.split())
