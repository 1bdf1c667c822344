"""``reflet used-by``: what a person sees, and what a script gets."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

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


def empty(kind: str, *items: Mapping[str, Any], version: str = "v1") -> Mapping[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {}, "items": list(items)}


def lists_of(
    paths: Mapping[str, str], **items: list[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the answer for each path: a list of its kind, in the version that the path says."""
    return {
        path: empty(
            kind,
            *items.get(kind, []),
            version="/".join(path.split("/")[2:4]) if path.startswith("/apis") else "v1",
        )
        for path, kind in paths.items()
    }


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


def test_nobody_uses_it_and_what_was_looked_at_is_told(used_by: Any) -> None:
    code, output, errors = used_by("secret/tsl")

    assert code == 0
    assert " ".join(output.split()) == (
        "nothing uses Secret tsl in namespace default: 1 workload and 1 other object were checked"
    )
    assert errors == (
        "warning: Secret tsl does not exist in namespace default; did you mean tls?\n"
    )


def test_a_key_that_is_not_there_is_told(used_by: Any) -> None:
    _, output, errors = used_by("secret/tls", "--key", "passwrod")

    assert errors == "warning: Secret tls has no key passwrod; it has password\n"
    assert "volume certificates" in output  # all keys are mounted, whichever there are


CUSTOM = """
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: roll}
spec:
  template:
    spec:
      containers: [{name: c, image: i, envFrom: [{secretRef: {name: tls}}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  listeners: [{tls: {certificateRefs: [{name: tls, namespace: default}]}}]
---
apiVersion: shop.dev/v1
kind: Till
metadata: {name: t}
spec: {credentialsSecretRef: {name: tls}}
"""


def test_custom_workloads_and_other_objects_are_users(used_by: Any) -> None:
    code, output, errors = used_by("secret/tls", text=SHOP + CUSTOM)

    lines = output.splitlines()
    assert (code, errors) == (0, "")
    assert "rollout/roll" in lines
    assert "gateway/edge in infra" in lines
    assert "till/t" in lines
    assert "what 1 user makes of it is not known" in output.replace("\n", " ")


def test_kinds_without_rows_and_kinds_that_are_not_known_are_told_when_nobody_is_found(
    used_by: Any,
) -> None:
    removed = "\n---\napiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: old}\n"

    _, output, errors = used_by("cm/none", text=SHOP + CUSTOM + removed)

    assert "2 workloads and 3 other\nobjects were checked" in output
    assert "does not exist" in errors
    assert "in 1 object of kinds that the reference table does not have" in errors
    assert "looked for: Till" in errors.replace("\n", " ").replace("  ", " ")
    assert "the API server would refuse it: no matches for kind" in errors


def test_what_another_system_makes_need_not_exist(used_by: Any) -> None:
    external = """
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: database}
"""

    _, _, errors = used_by("secret/database", text=SHOP + external)

    assert "does not exist in namespace default: ExternalSecret database makes it" in errors


def test_programs_get_a_document(used_by: Any) -> None:
    _, output, _ = used_by("secret/tls", "-o", "json")

    document = json.loads(output)
    assert document["object"] == {"kind": "Secret", "namespace": "default", "name": "tls"}
    assert document["exists"] is True
    assert document["lookedAt"] == {"pods": 0, "workloads": 1, "others": 1}
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
        "selection": None,
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


DISCOVERY: dict[str, Mapping[str, Any]] = {
    "/api": {"kind": "APIVersions"},
    "/api/v1": {"kind": "APIResourceList", "resources": []},
    "/apis": {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": "argoproj.io",
                "versions": [{"groupVersion": "argoproj.io/v1alpha1", "version": "v1alpha1"}],
            }
        ],
    },
    "/apis/argoproj.io/v1alpha1": {
        "kind": "APIResourceList",
        "resources": [
            {"name": "rollouts", "kind": "Rollout", "namespaced": True},
            {"name": "applications", "kind": "Application", "namespaced": True},
        ],
    },
}
CUSTOM_LISTS = {**LISTS, "/apis/argoproj.io/v1alpha1/namespaces/default/rollouts": "Rollout"}


def rollout(name: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def asked(api: ScriptedApi) -> list[str]:
    return sorted({target.partition("?")[0] for target in api.targets})


def test_a_cluster_is_asked_only_for_what_can_use_a_config_map_and_it_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pod: dict[str, Any] = {
        "metadata": {
            "name": "web-1",
            "namespace": "default",
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}],
        },
        "spec": {"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "a"}}]}]},
    }
    template = {"spec": {"containers": [{"image": "i", **pod["spec"]["containers"][0]}]}}
    lists = lists_of(CUSTOM_LISTS, Pod=[pod], Rollout=[rollout("roll", {"template": template})])
    api = ScriptedApi({**lists, **DISCOVERY})

    with api.serving():
        code = reflet(api, "used-by", "cm/a")

    output = capsys.readouterr()
    assert code == 1  # it does not exist, and who names it is shown
    assert output.out.splitlines()[1:5] == [
        "replicaset/web (1 pod)",
        "  c: envFrom             *      restart",
        "rollout/roll",
        "  c: envFrom             *      restart",
    ]
    assert output.err == "warning: ConfigMap a does not exist in namespace default\n"
    assert set(asked(api)) == {*lists, *DISCOVERY, f"{NAMESPACE}/configmaps/a"}


def test_a_template_that_cannot_be_read_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"template": {"spec": {"containers": [{"image": "i", "ports": "none"}]}}}
    lists = lists_of(CUSTOM_LISTS, Rollout=[rollout("roll", bad)])
    api = ScriptedApi({**lists, **DISCOVERY})

    with api.serving():
        reflet(api, "used-by", "cm/a")

    assert "note: Rollout roll: the template at spec.template cannot be" in capsys.readouterr().err


def test_lists_that_are_forbidden_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """The scripted server answers 404 for what it does not know, as one without the kind would."""
    api = ScriptedApi({f"{NAMESPACE}/pods": empty("Pod")})

    with api.serving():
        code = reflet(api, "used-by", "secret/a")

    output = capsys.readouterr()
    assert code == 1
    assert output.out == (
        "nothing uses Secret a in namespace default: no pod and no workload were checked\n"
    )
    assert "note: custom resources are left out: what the server has is not known: " in output.err
    assert "note: deployments.apps could not be listed, so they are left out: " in output.err
    assert "note: ingresses.networking.k8s.io could not be listed" in output.err


def test_whether_it_exists_may_be_forbidden_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    lists = lists_of(CUSTOM_LISTS)
    forbidden = refusal(403, "Forbidden", "not you")
    api = ScriptedApi({**lists, **DISCOVERY, f"{NAMESPACE}/secrets/a": forbidden})

    with api.serving():
        code = reflet(api, "used-by", "secret/a", "-o", "json")

    document = json.loads(capsys.readouterr().out)
    assert (code, document["exists"]) == (0, None)
    assert "whether Secret a exists could not be asked: not you" in document["notes"]


def test_in_all_namespaces_existence_is_asked_once(capsys: pytest.CaptureFixture[str]) -> None:
    paths = {path.replace("/namespaces/default", ""): kind for path, kind in CUSTOM_LISTS.items()}
    there = {"metadata": {"name": "a", "namespace": "shop"}, "data": {"k": "v"}}
    lists = lists_of({**paths, "/api/v1/configmaps": "ConfigMap"}, ConfigMap=[there])
    api = ScriptedApi({**lists, **DISCOVERY})

    with api.serving():
        reflet(api, "used-by", "cm/a", "-A", "--key", "nope")

    assert capsys.readouterr().err == "warning: ConfigMap a has no key nope; it has k\n"
    assert any(
        target.startswith("/api/v1/configmaps?") and "metadata.name%3Da" in target
        for target in api.targets
    )


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
