"""``reflet unused``: what a person sees, what a script gets, and what it says it has not seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

SHOP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: info, old: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: forgotten}
data: {a: "123"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: by-argument}
---
apiVersion: v1
kind: Secret
metadata: {name: vault}
stringData: {password: canary-hush-hush}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: i
        args: [--settings=by-argument]
        env:
        - {name: LEVEL, valueFrom: {configMapKeyRef: {name: settings, key: level}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {auth: {secretRef: {name: vault}}}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    return str(path)


def test_files_are_looked_through_without_a_server(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["reflet", "unused", "-f", file, "--show-reason"])

    output = capsys.readouterr()
    assert code == 1
    assert output.out.splitlines() == [
        "OBJECT                KEYS   SIZE   AGE   WHY",
        "configmap/forgotten   *      3 B          nothing names it",
        "configmap/settings    old    1 B          other keys of it are used",
        "",
        "1 object and 1 key of others unused, 4 B: 4 objects and 2 possible users",
        "checked; 1 more only mentioned by name (--mentioned)",
    ]
    assert "only the usual names of fields were looked for: Widget" in output.err
    assert "canary" not in output.out + output.err


def test_what_is_only_mentioned_is_shown_on_request(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["reflet", "unused", "-f", file, "--mentioned", "-o", "wide", "--no-keys"])

    said = capsys.readouterr().out
    assert "Deployment web mentions its name" in said
    assert "configmap/settings" not in said


def test_nothing_is_unused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(SHOP.split("---")[4])

    code = run(["reflet", "unused", "-f", str(path)])

    assert code == 0
    assert "nothing is unused: 0 objects and 1 possible user checked" in capsys.readouterr().out


def test_what_an_annotation_of_a_service_makes_is_not_unused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\n---\n"
    path = tmp_path / "a.yaml"
    path.write_text(
        f"{secret.replace('NAME', 'certificate')}{secret.replace('NAME', 'web')}"
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n"
        "    service.beta.openshift.io/serving-cert-secret-name: certificate\n"
        "spec: {clusterIP: None, selector: {app: web}}\n"
    )

    code = run(["reflet", "unused", "-f", str(path)])

    # Selectors name no objects.
    out = capsys.readouterr().out
    assert (code, "secret/web" in out, "secret/certificate" in out) == (1, True, False)


def test_programs_get_a_document(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["reflet", "unused", "-f", file, "-o", "json"])

    document = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["keys"]) for each in document["items"]] == [
        ("forgotten", None),
        ("settings", ["old"]),
    ]
    assert document["byUsualNames"] == {"Widget": 1}


CORE = "/api/v1/namespaces/default"
OLD = "2020-01-01T00:00:00Z"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def listed(kind: str, *items: Any, version: str = "v1") -> Mapping[str, Any]:
    return {"apiVersion": version, "kind": f"{kind}List", "metadata": {}, "items": list(items)}


def config_map(name: str, created: str = OLD) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "creationTimestamp": created}
    return {"metadata": metadata, "data": {"a": "1"}}


def definition(kind: str, *properties: str) -> dict[str, Any]:
    schema = {"properties": {name: {"type": "string"} for name in properties}}
    return {
        "metadata": {"name": f"{kind.lower()}s.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": kind, "plural": f"{kind.lower()}s"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        },
    }


def served(*kinds: str) -> Mapping[str, Any]:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "example.com/v1",
        "resources": [
            {
                "name": f"{kind.lower()}s",
                "singularName": "",
                "kind": kind,
                "namespaced": True,
                "verbs": ["get", "list"],
            }
            for kind in kinds
        ],
    }


def api(*config_maps: Any, changes: Mapping[str, Any] | None = None) -> ScriptedApi:
    group = {
        "name": "example.com",
        "versions": [{"groupVersion": "example.com/v1", "version": "v1"}],
        "preferredVersion": {"groupVersion": "example.com/v1", "version": "v1"},
    }
    lists = {
        f"{CORE}/configmaps": listed("ConfigMap", *config_maps),
        f"{CORE}/secrets": listed("Secret"),
        f"{CORE}/pods": listed("Pod"),
        f"{CORE}/replicationcontrollers": listed("ReplicationController"),
        **{
            f"/apis/apps/v1/namespaces/default/{kind.lower()}s": listed(kind, version="apps/v1")
            for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
        },
        **{
            f"/apis/batch/v1/namespaces/default/{kind.lower()}s": listed(kind, version="batch/v1")
            for kind in ("Job", "CronJob")
        },
        DEFINITIONS: listed(
            "CustomResourceDefinition",
            definition("Widget", "secretName"),
            definition("Plain", "color"),
            version="apiextensions.k8s.io/v1",
        ),
        "/apis/example.com/v1/namespaces/default/widgets": listed(
            "Widget",
            {"metadata": {"name": "w"}, "spec": {"anything": "by-widget"}},
            version="example.com/v1",
        ),
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
        "/apis/example.com/v1": served("Widget", "Plain"),
    }
    return ScriptedApi({**lists, **(changes or {})})


def test_custom_kinds_are_looked_into_if_their_definition_has_a_place_for_a_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with api(config_map("forgotten"), config_map("by-widget")).serving() as server:
        code = reflet(server, "unused")

    output = capsys.readouterr()
    assert code == 1
    assert "configmap/forgotten" in output.out
    assert "by-widget" not in output.out
    assert "only the usual names of fields were looked for: Widget" in output.err
    assert not any("/plains" in target for target in server.targets)


def test_what_may_not_be_listed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    no = refusal(403, "Forbidden", "no")
    changes = {f"{CORE}/secrets": no, DEFINITIONS: no, f"{CORE}/pods": no}
    with api(config_map("forgotten"), changes=changes).serving() as server:
        code = reflet(server, "unused")

    said = capsys.readouterr().err
    assert code == 1
    assert "secrets could not be listed, so they are left out: no" in said
    assert "pods could not be listed, so they are left out: no" in said
    assert "custom kinds that the reference table does not have are left out: no" in said
    assert "users in other namespaces were not looked for" in said


def test_who_may_list_neither_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    no = refusal(403, "Forbidden", "no")
    changes = {f"{CORE}/secrets": no, f"{CORE}/configmaps": no}
    with api(changes=changes).serving() as server:
        code = reflet(server, "unused")

    assert code == 4


def test_only_what_is_old_enough_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    objects = config_map("old"), config_map("young", "2999-01-01T00:00:00Z")
    with api(*objects).serving() as server:
        reflet(server, "unused", "--older-than", "30d")

    said = capsys.readouterr().out
    assert "configmap/old" in said
    assert "young" not in said


@pytest.mark.parametrize("text", ["soon", "d", "3x"])
def test_an_age_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "unused", "--older-than", text]) == 2
    assert "is no time such as 30d or 12h" in capsys.readouterr().err
