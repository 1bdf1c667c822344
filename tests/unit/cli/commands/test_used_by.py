"""``reflet used-by``: what a person sees, and what a script gets."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet

SHOP = """\
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
        env:
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: tls, key: password, optional: true}}}
        volumeMounts:
        - {name: certificates, mountPath: /etc/tls}
        - {name: certificates, mountPath: /etc/one, subPath: tls.crt}
      volumes:
      - {name: certificates, secret: {secretName: tls}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec:
  tls: [{secretName: tls}]
  defaultBackend: {service: {name: web, port: {number: 80}}}
---
apiVersion: v1
kind: Secret
metadata: {name: tls}
stringData: {password: canary-hush-hush}
"""
NAMESPACE = "/api/v1/namespaces/default"
LISTS = {
    f"{NAMESPACE}/pods": "Pod",
    f"{NAMESPACE}/replicationcontrollers": "ReplicationController",
    "/apis/apps/v1/namespaces/default/deployments": "Deployment",
    "/apis/apps/v1/namespaces/default/statefulsets": "StatefulSet",
    "/apis/apps/v1/namespaces/default/daemonsets": "DaemonSet",
    "/apis/apps/v1/namespaces/default/replicasets": "ReplicaSet",
    "/apis/batch/v1/namespaces/default/jobs": "Job",
    "/apis/batch/v1/namespaces/default/cronjobs": "CronJob",
}


def empty(kind: str, *items: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": list(items)}


@pytest.fixture
def used_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def used_by(*arguments: str, text: str = SHOP) -> tuple[int, str, str]:
        path = tmp_path / "shop.yaml"
        path.write_text(text)
        code = run(["reflet", "used-by", *arguments, "-f", str(path)])
        output = capsys.readouterr()
        return code, output.out, output.err.replace(str(tmp_path), "")

    return used_by


def test_users_and_their_uses_are_a_table(used_by: Any) -> None:
    code, output, errors = used_by("secret/tls")

    assert (code, errors) == (0, "")
    assert (
        output
        == """\
USER                                  KEYS               CHANGE
deployment/web
  web: env PASSWORD, optional         password           restart
  web: volume certificates            *                  live
  web: volume certificates, subPath   tls.crt            restart
ingress/front
  tls                                 tls.crt, tls.key   live

Secret tls in namespace default is used by 1 workload and 1 other object; after
a change, 1 workload needs a restart
"""
    )


def test_only_users_of_a_key(used_by: Any) -> None:
    _, output, _ = used_by("secret", "tls", "--key", "password")

    assert "env PASSWORD" in output
    assert "subPath" not in output
    assert "ingress" not in output


def test_nobody_uses_it(used_by: Any) -> None:
    assert used_by("cm/tls")[:2] == (0, "nobody uses ConfigMap tls in namespace default\n")


def test_programs_get_a_document(used_by: Any) -> None:
    _, output, _ = used_by("secret/tls", "-o", "json")

    document = json.loads(output)
    assert document["object"] == {"kind": "Secret", "namespace": "default", "name": "tls"}
    assert [user["name"] for user in document["users"]] == ["web", "front"]
    assert document["users"][0]["uses"][2] == {
        "as": "volume",
        "keys": ["tls.crt"],
        "optional": False,
        "change": "restart",
        "container": "web",
        "variable": None,
        "volume": "certificates",
        "mountPath": "/etc/one",
        "subPath": "tls.crt",
        "path": "spec.volumes[0].secret",
    }
    assert document["totals"] == {
        "workloads": 1,
        "pods": 0,
        "others": 1,
        "workloadsToRestart": 1,
        "podsToRestart": 0,
    }
    assert "canary" not in output


def test_yaml_is_the_same_document(used_by: Any) -> None:
    _, output, _ = used_by("secret/tls", "-o", "yaml")

    assert "kind: UsedBy\n" in output
    assert "  workloadsToRestart: 1\n" in output


def test_nothing_is_cut_when_it_may_be_wide(used_by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")

    assert "volume certificates, subPath" not in used_by("secret/tls")[1]
    assert "volume certificates, subPath" in used_by("secret/tls", "-o", "wide")[1]


def test_all_namespaces_have_a_column(used_by: Any) -> None:
    text = SHOP.replace(
        "kind: Ingress\nmetadata: {name: front}",
        "kind: Ingress\nmetadata: {name: front, namespace: b}",
    )

    _, output, _ = used_by("secret/tls", "-A", text=text)

    assert output.splitlines()[0].split() == ["NAMESPACE", "USER", "KEYS", "CHANGE"]
    assert [line.split()[0] for line in output.splitlines()[1:3]] == ["b", "b"]


def test_refused_objects_are_said_to_be_left_out(used_by: Any) -> None:
    code, _, errors = used_by("secret/tls", text=SHOP.replace("image: i", "image: ''"))

    assert code == 0
    assert "the API server would refuse it" in errors
    assert "so it is left out" in errors


def test_a_cluster_is_asked_only_for_what_can_use_a_config_map(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pod = {
        "metadata": {
            "name": "web-1",
            "namespace": "default",
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}],
        },
        "spec": {"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "a"}}]}]},
    }
    api = ScriptedApi(
        {path: empty(kind, *([pod] if kind == "Pod" else [])) for path, kind in LISTS.items()}
    )

    with api.serving():
        code = reflet(api, "used-by", "cm/a")

    output = capsys.readouterr().out
    assert code == 0
    assert output.splitlines()[1:3] == [
        "replicaset/web (1 pod)",
        "  c: envFrom             *      restart",
    ]
    assert sorted(target.partition("?")[0] for target in api.targets) == sorted(LISTS)


def test_lists_that_are_forbidden_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """The scripted server answers 404 for what it does not know, as one without the kind would."""
    api = ScriptedApi({f"{NAMESPACE}/pods": empty("Pod")})

    with api.serving():
        code = reflet(api, "used-by", "secret/a")

    output = capsys.readouterr()
    assert code == 0
    assert output.out == "nobody uses Secret a in namespace default\n"
    assert len(output.err.splitlines()) == 9
    assert "note: deployments.apps could not be listed, so they are left out: " in output.err


def test_a_server_that_shows_nothing_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    api = ScriptedApi({})

    with api.serving():
        code = reflet(api, "used-by", "cm/a")

    assert code == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a ConfigMap or Secret"),
        (("cm",), "one object at a time"),
        (("cm/a", "cm/b"), "one object at a time"),
        (("pod/a",), "pods hold no configuration: name a configmap or a secret"),
        (("cmx/a",), "there is no resource 'cmx'"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["reflet", "used-by", *arguments])

    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    (line,) = output.err.splitlines()
    assert said in line
