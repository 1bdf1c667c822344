"""``lint`` on a repository as it was cloned: folders, kustomize, Helm, and a cluster's kinds."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from reflet.testing.pytest_plugin import RunningServer
from tests.chart import HELM, needs_helm
from tests.integration.plain_client import Client

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: i, envFrom: [{configMapRef: {name: settings}}]}
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {A: b}\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Any:
    def lint(*arguments: str) -> tuple[int, list[str], str]:
        code = run(["reflet", "lint", "--no-config", *arguments])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return lint


def test_a_repository_is_read_past_everything_that_is_no_manifest(
    lint: Any, tmp_path: Path
) -> None:
    write(
        tmp_path,
        deploy__web_yaml=DEPLOYMENT,
        deploy__cm_yaml=CONFIG_MAP,
        charts__a__Chart_yaml="apiVersion: v2\nname: a\n",
        charts__a__values_yaml="image: x\n",
        charts__a__templates__d_yaml="{{- if .Values.x }}\napiVersion: v1\nkind: Pod\n{{ end }}\n",
        overlay__kustomization_yaml="resources: [../deploy]\npatches: [{path: p.yaml}]\n",
        overlay__p_yaml="apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
        testdata__bad_yaml="apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\n",
        broken_yaml="apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: '!'}\n",
    )

    code, lines, errors = lint("-f", str(tmp_path))

    assert code == 1
    assert [line for line in lines if " RFL" in line] == [
        f"{tmp_path}/broken.yaml:4: error RFL001 refused"
    ]
    assert "skipped 6 files: 1 Helm template (render it: --helm" in errors
    assert "2 parts of kustomizations (as kustomize means it: -k" in errors
    assert "1 set aside (in testdata; --include reads them)" in errors
    assert len(errors.splitlines()) == 1


def test_what_kustomize_makes_is_linted(lint: Any, tmp_path: Path) -> None:
    if not (shutil.which("kubectl") or shutil.which("kustomize")):
        pytest.skip("needs kubectl or kustomize on PATH")
    folder = write(
        tmp_path,
        base__web_yaml=DEPLOYMENT,
        base__kustomization_yaml="resources: [web.yaml]\n",
        prod__kustomization_yaml=(
            "resources: [../base]\nnamespace: prod\n"
            "configMapGenerator: [{name: settings, literals: [A=b]}]\n"
        ),
    )

    assert lint("-k", str(folder / "prod"))[:2] == (0, ["no findings in 2 objects"])
    code, lines, _ = lint("-k", str(folder / "base"))
    assert code == 1
    assert lines[0].startswith(f"{folder}/base/kustomization.yaml (rendered):")
    assert "error RFL002 missing-object" in lines[0]
    code, _, errors = lint("-k", str(tmp_path))
    assert (code, "no kustomization.yaml there" in errors) == (2, True)


@needs_helm
def test_what_helm_makes_is_linted(
    lint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(HELM).parent}{os.pathsep}{os.environ['PATH']}")
    chart = write(
        tmp_path,
        Chart_yaml="apiVersion: v2\nname: web\nversion: 1.0.0\n",
        values_yaml="settings: false\n",
        templates__web_yaml=DEPLOYMENT,
        templates__cm_yaml="{{ if .Values.settings }}\n" + CONFIG_MAP + "{{ end }}\n",
        more_yaml="settings: true\n",
    )

    code, lines, _ = lint("--helm", str(chart))
    assert (code, lines[0]) == (
        1,
        f"{chart}/templates/web.yaml (rendered):11: error RFL002 missing-object",
    )
    assert lint("--helm", str(chart), "--set", "settings=true")[0] == 0
    assert lint("--helm", str(chart), "--values", str(chart / "more.yaml"))[0] == 0
    code, _, errors = lint("--helm", str(tmp_path / "gone"))
    assert (code, "helm template" in errors) == (2, True)


DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "tills.shop.dev"},
    "spec": {
        "group": "shop.dev",
        "scope": "Namespaced",
        "names": {"plural": "tills", "singular": "till", "kind": "Till", "listKind": "TillList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}
                        },
                    }
                },
            }
        ],
    },
}
FILES = """\
apiVersion: shop.dev/v1
kind: Till
metadata: {name: t}
spec: {size: large}
---
apiVersion: shop.dev/v2
kind: Till
metadata: {name: u}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {serviceAccountName: robot, priorityClassName: high, containers: [{name: c, image: i}]}
"""


def test_a_cluster_knows_its_kinds_and_its_objects(
    lint: Any, tmp_path: Path, server: RunningServer, client: Client
) -> None:
    (tmp_path / "a.yaml").write_text(FILES)
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert client.request("POST", definitions, DEFINITION).code == 201
    account = {"metadata": {"name": "robot"}}
    path = "/api/v1/namespaces/default/serviceaccounts"
    assert client.request("POST", path, account).code == 201
    against = ("--against", "cluster", "--kubeconfig", str(server.kubeconfig), "-o", "json")

    code, lines, _ = lint(str(tmp_path / "a.yaml"), *against)

    found = json.loads("\n".join(lines))["findings"]
    assert code == 1
    assert [(each["rule"], each["severity"], each["line"]) for each in found] == [
        ("RFL001", "error", 4),
        ("RFL001", "error", 7),
        ("RFL028", "error", 13),
    ]
    assert "must be of type integer" in found[0]["message"]
    assert 'no matches for kind "Till" in version "shop.dev/v2"' in found[1]["message"]
    assert lint(str(tmp_path / "a.yaml"))[0] == 0  # nothing is known of them without it
