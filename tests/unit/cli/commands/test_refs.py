"""``reflet refs``: the objects that a pod names, and where."""

from __future__ import annotations

import json

from tests.unit.cli.shop_files import SHOP, OnFiles, pod


def test_a_table_shows_every_use(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "refs")

    assert (shown.code, shown.errors) == (0, "")
    assert shown.output == (
        "OBJECT               KEYS       USED BY\n"
        "configmap/settings   all        container web, all variables\n"
        "secret/database      all        container web, all variables as DB_…\n"
        "configmap/settings   all        volume config\n"
        "secret/database      PASSWORD   volume keys\n"
    )


def test_json_has_the_names_and_where_each_is_used(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "refs", "-o", "json")

    document = json.loads(shown.output)
    assert (document["configMaps"], document["secrets"]) == (["settings"], ["database"])
    assert document["uses"][3] == {
        "kind": "Secret",
        "name": "database",
        "usage": "volume",
        "keys": ["PASSWORD"],
        "optional": False,
        "place": {"path": "spec.volumes[1].projected.sources[0].secret", "volume": "keys"},
    }


def test_pull_secrets_single_variables_and_optional_uses_are_told(on_files: OnFiles) -> None:
    source = "configMapKeyRef: {name: settings, key: a, optional: true}"
    text = pod(
        f"env: [{{name: A, valueFrom: {{{source}}}}}]", "  imagePullSecrets: [{name: pull}]\n"
    )

    shown = on_files(text, "refs", "--no-headers")

    assert shown.output == (
        "secret/pull          all   pulls images\n"
        "configmap/settings   a     container web, variable A (optional)\n"
    )


def test_a_pod_that_names_nothing_says_so(on_files: OnFiles) -> None:
    shown = on_files(pod(), "refs")

    assert (shown.code, shown.output) == (0, "")
    assert shown.errors == "pod/web names no ConfigMap and no Secret.\n"


def test_whether_the_objects_exist_does_not_matter(on_files: OnFiles) -> None:
    shown = on_files(pod("envFrom: [{secretRef: {name: missing}}]"), "refs", "-o", "yaml")

    assert shown.code == 0
    assert "secrets:\n- missing\n" in shown.output


def test_an_unrelated_mistake_is_a_warning(on_files: OnFiles) -> None:
    text = pod("envFrom: [{secretRef: {name: s}}], ports: [{containerPort: 80, protocol: tcp}]")

    shown = on_files(text, "refs", "--no-headers")

    assert (shown.code, shown.output) == (0, "secret/s   all   container web, all variables\n")
    (line,) = shown.errors.splitlines()
    assert line.startswith("warning: ")
    assert 'protocol: Unsupported value: "tcp"' in line


def test_every_template_of_a_custom_workload_is_read(on_files: OnFiles) -> None:
    text = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      template:
        spec: {containers: [{name: m, image: i, envFrom: [{configMapRef: {name: a}}]}]}
    Worker:
      template:
        spec: {containers: [{name: w, image: i, envFrom: [{secretRef: {name: b}}]}]}
"""

    shown = on_files(text, "refs", "pytorchjob/train")

    assert [line.split()[0] for line in shown.output.splitlines()[1:]] == [
        "configmap/a",
        "secret/b",
    ]


GRAFANA = """\
apiVersion: v1
kind: Pod
metadata: {name: grafana, namespace: monitoring}
spec:
  containers:
  - name: dashboards
    image: quay.io/kiwigrid/k8s-sidecar:2.10.1
    env:
    - {name: LABEL, value: grafana_dashboard}
    - {name: LABEL_VALUE, valueFrom: {configMapKeyRef: {name: settings, key: value}}}
    - {name: FOLDER, value: /tmp/dashboards}
    - {name: RESOURCE, value: both}
    - {name: NAMESPACE, value: "shop,bank"}
"""
SETTINGS = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: monitoring}
data: {value: "1"}
"""


def test_what_a_sidecar_selects_is_told_as_such(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA + SETTINGS, "refs", "--no-headers")

    assert shown.output.splitlines()[1].split("   ") == [
        "secret,configmap -l grafana_dashboard=1 -n shop -n bank",
        "all",
        "  container dashboards, sidecar",
    ]


def test_programs_get_what_a_sidecar_selects(on_files: OnFiles) -> None:
    shown = on_files(GRAFANA + SETTINGS, "refs", "-o", "json")

    assert json.loads(shown.output)["selections"] == [
        {
            "kinds": ["Secret", "ConfigMap"],
            "labelSelector": "grafana_dashboard=1",
            "names": [],
            "namespaces": ["shop", "bank"],
            "folder": "/tmp/dashboards",
            "notKnown": [],
            "place": {"path": "spec.containers[0]", "container": "dashboards"},
        }
    ]


def test_a_variable_of_a_sidecar_that_is_not_there_is_not_known(on_files: OnFiles) -> None:
    text = GRAFANA.replace("grafana_dashboard}", '"a in (x,y)"}')

    shown = on_files(text, "refs", "--no-headers")

    assert shown.output.splitlines()[1].split("   ") == [
        "secret,configmap -l 'a in (x,y)' -n shop -n bank",
        "all",
        "  container dashboards, sidecar; not known: LABEL_VALUE",
    ]
