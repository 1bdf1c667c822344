"""``reflet rbac``: roles as YAML and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.yaml.text import read_manifests
from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet

SHOP = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  enableServiceLinks: false
  containers:
  - name: web
    image: i
    envFrom:
    - configMapRef: {name: settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: web
        image: i
        envFrom:
        - secretRef: {name: database}
"""


@pytest.fixture
def rbac(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    path = tmp_path / "shop.yaml"

    def rbac(*arguments: str, text: str = SHOP) -> tuple[int, str, str]:
        path.write_text(text)
        code = run(["reflet", "rbac", *arguments, "-f", str(path)])
        return code, *capsys.readouterr()

    return rbac


def test_every_rule_has_its_reason_above_it(rbac: Any) -> None:
    code, output, errors = rbac("pod/web", "--verbs", "get", "--subject", "user:alice")

    assert (code, errors) == (0, "")
    assert (
        output
        == """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reflet-web
  namespace: shop
rules:
# the ConfigMap that the pod names
- apiGroups:
  - ""
  resourceNames:
  - settings
  resources:
  - configmaps
  verbs:
  - get
# what refers to all the others
- apiGroups:
  - ""
  resourceNames:
  - web
  resources:
  - pods
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reflet-web
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reflet-web
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: alice
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reflet-web
  namespace: default
rules:
# every container is told the address of the API server
- apiGroups:
  - ""
  resourceNames:
  - kubernetes
  resources:
  - services
  verbs:
  - get
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reflet-web
  namespace: default
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reflet-web
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: alice
"""
    )


def test_without_a_target_all_pods_of_the_files_are_meant(rbac: Any) -> None:
    _, output, _ = rbac("--name", "reader")

    role: Any = read_manifests(output)[0].object
    names = [rule["resourceNames"] for rule in role["rules"] if "resourceNames" in rule]
    assert names == [("settings",), ("database",), ("web",), ("api",)]
    assert role.metadata.name == "reader"


def test_json_is_a_list_with_the_reasons_in_an_annotation(rbac: Any) -> None:
    _, output, _ = rbac(
        "deploy/api", "-o", "json", "--subject", "sa:reader", "--subject", "sa:ops:x"
    )

    document = json.loads(output)
    role, binding = document["items"][:2]
    assert (document["kind"], role["kind"], binding["kind"]) == ("List", "Role", "RoleBinding")
    assert (
        "secrets: the Secret that the pod names"
        in (role["metadata"]["annotations"]["reflet.dev/explanation"])
    )
    assert [(each["namespace"], each["name"]) for each in binding["subjects"]] == [
        ("shop", "reader"),
        ("ops", "x"),
    ]


def test_a_server_is_asked_for_the_pod_only(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/api/v1/namespaces/default/pods/web"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "s"}}]}]},
    }
    api = ScriptedApi({path: pod})

    with api.serving():
        code = reflet(api, "rbac", "web")

    assert (code, api.targets) == (0, [path])
    assert "  - s\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--verbs", "get,delete"), "--verbs takes some of get, list, watch, not 'get,delete'"),
        (("--verbs", ""), "--verbs takes some of"),
        (("--subject", "alice"), "--subject takes user:NAME"),
        (("--subject", "user:"), "--subject takes user:NAME"),
        (("--subject", "sa:a:b:c"), "--subject takes user:NAME"),
        (("pod/other",), "pod/other"),
        (("-n", "bakery"), "the files hold no pod and nothing that makes pods"),
    ],
)
def test_mistakes_are_one_line(rbac: Any, arguments: tuple[str, ...], said: str) -> None:
    code, output, errors = rbac(*arguments)

    assert (code, output) == (2, "")
    (line,) = errors.splitlines()
    assert said in line


@pytest.mark.parametrize("target", [(), ("deploy/api",)])
def test_a_workload_that_the_server_would_refuse_is_answered_with_a_warning(
    rbac: Any, target: tuple[str, ...]
) -> None:
    whole = rbac(*target)
    code, output, errors = rbac(
        *target, text=SHOP.replace("metadata: {labels: {a: b}}", "metadata: {}")
    )

    assert (code, output) == (0, whole[1])
    (line,) = errors.splitlines()
    assert line.startswith("warning: ")
    assert "`selector` does not match template `labels`" in line


def test_what_cannot_be_read_at_all_is_said_to_be_left_out(rbac: Any) -> None:
    unnamed = SHOP.replace("metadata: {name: api, namespace: shop}", "metadata: {namespace: shop}")

    code, output, errors = rbac(text=unnamed)

    assert code == 0
    assert "so it is left out" in errors
    assert "deployments" not in output


def test_forwarding_is_about_run_and_no_sidecar(rbac: Any) -> None:
    code, output, errors = rbac("pod/web", "--forward", "--sidecar")

    assert (code, output) == (2, "")
    assert "--forward is about reflet run: leave it out, or --sidecar" in errors


def test_the_rights_to_forward_are_said_with_their_reasons(rbac: Any) -> None:
    _, output, _ = rbac("pod/web", "--forward")

    assert "# --forward: the ready pods behind a Service are chosen by labels\n" in output
    assert "  - pods/portforward\n  verbs:\n  - get\n  - create\n" in output
