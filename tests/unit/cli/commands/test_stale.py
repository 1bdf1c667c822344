"""``reflet stale``: what a person sees, what programs get, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import pytest

from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

CORE, APPS = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
CANARY = "canary-hush-hush"
OLD, STARTED, NEW = (f"2020-01-0{day}T00:00:00Z" for day in (1, 2, 3))


def owner(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "u", "controller": True}


def pod(name: str = "web-1-a", started: str = STARTED) -> dict[str, Any]:
    level = {"configMapKeyRef": {"name": "settings", "key": "level"}}
    password = {"secretKeyRef": {"name": "database", "key": "password"}}
    container = {
        "name": "web",
        "image": "i",
        "env": [
            {"name": "LOG_LEVEL", "valueFrom": level},
            {"name": "PASSWORD", "valueFrom": password},
        ],
    }
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "creationTimestamp": started,
            "ownerReferences": [owner("ReplicaSet", "web-1")],
        },
        "spec": {"enableServiceLinks": False, "containers": [container]},
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {
                    "name": "web",
                    "image": "i",
                    "imageID": "",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": started}},
                }
            ],
        },
    }


def stored(kind: str, name: str, data: Mapping[str, str], time: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in data}}
    entry = {"manager": "kubectl-edit", "operation": "Update", "time": time, "fieldsV1": fields}
    metadata = {"name": name, "namespace": "default", "creationTimestamp": OLD}
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {**metadata, "managedFields": [entry]},
        "data": dict(data),
    }


def listed(kind: str, *items: Any, version: str = "v1") -> Mapping[str, Any]:
    return {"apiVersion": version, "kind": f"{kind}List", "metadata": {}, "items": list(items)}


def words(text: str) -> str:
    return " ".join(text.split())


def api(*pods: Any, level: str = NEW, changes: Mapping[str, Any] | None = None) -> ScriptedApi:
    maker = {
        "metadata": {
            "name": "web-1",
            "namespace": "default",
            "ownerReferences": [owner("Deployment", "web")],
        }
    }
    documents = {
        f"{CORE}/pods": listed("Pod", *pods),
        f"{APPS}/replicasets": listed("PartialObjectMetadata", maker, version="meta.k8s.io/v1"),
        "/apis/batch/v1/namespaces/default/jobs": listed(
            "PartialObjectMetadata", version="meta.k8s.io/v1"
        ),
        f"{CORE}/configmaps/settings": stored("ConfigMap", "settings", {"level": "info"}, level),
        f"{CORE}/secrets/database": stored("Secret", "database", {"password": "aHVzaA=="}, OLD),
        **(changes or {}),
    }
    return ScriptedApi(documents)


def test_a_table_says_what_may_be_stale_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod(), pod("web-1-b")).serving() as server:
        code = reflet(server, "stale")

    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert lines[1] == "deployment/web (2 pods)"
    assert words(lines[2]).startswith(
        "web: env LOG_LEVEL configmap/settings level may be stale inferred kubectl-edit wrote it "
    )
    assert lines[4:] == [
        "2 containers may be stale, of 1 workload; 2 running pods were checked",
    ]


def test_nothing_is_stale(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod(), level=OLD).serving() as server:
        code = reflet(server, "stale")

    said = "nothing is known to be stale: 1 running pod was checked\n"
    assert (code, capsys.readouterr().out) == (0, said)


def test_everything_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod()).serving() as server:
        reflet(server, "stale", "--all")

    shown = words(capsys.readouterr().out)
    assert "web: env PASSWORD secret/database password is current inferred" in shown


def test_pods_that_have_ended_are_not_asked_for() -> None:
    with api(pod()).serving() as server:
        reflet(server, "stale", "-l", "app=web")

    (asked,) = [target for target in server.targets if "/pods" in target]
    asked = unquote(asked)
    assert "fieldSelector=status.phase!=Failed,status.phase!=Succeeded" in asked
    assert "labelSelector=app=web" in asked


def test_a_document_holds_what_is_known_and_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod()).serving() as server:
        code = reflet(server, "stale", "-o", "json", "--all")

    output = capsys.readouterr().out
    (workload,) = json.loads(output)["workloads"]
    level, password = workload["uses"]
    assert code == 1
    assert level | {"reason": ""} == {
        "container": "web",
        "as": "variable",
        "name": "LOG_LEVEL",
        "object": {"kind": "ConfigMap", "name": "settings", "key": "level"},
        "state": "needs restart",
        "certainty": "inferred",
        "verdict": "may be stale",
        "reason": "",
        "changed": NEW,
        "by": "kubectl-edit",
        "amongKeys": 1,
        "pods": ["web-1-a"],
    }
    assert password["state"] == "current"
    assert "aHVzaA" not in output
    assert "info" not in output


def test_prometheus_gets_a_gauge_for_each_workload(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod(), pod("web-1-b")).serving() as server:
        reflet(server, "stale", "-o", "prometheus")

    assert (
        'reflet_stale_containers{certainty="inferred",namespace="default",'
        'workload="deployment/web"} 2' in capsys.readouterr().out
    )


def test_prometheus_sees_that_somebody_has_looked(capsys: pytest.CaptureFixture[str]) -> None:
    with api(pod(), level=OLD).serving() as server:
        reflet(server, "stale", "-o", "prometheus")

    assert capsys.readouterr().out.startswith("# HELP reflet_stale_containers ")


def test_what_may_not_be_read_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    refused = refusal(403, "Forbidden", "secrets is forbidden")
    changes = {f"{CORE}/secrets/database": refused}
    with api(pod(), level=OLD, changes=changes).serving() as server:
        code = reflet(server, "stale")

    said = capsys.readouterr().out
    assert code == 0
    assert "of 1 use it is not known (--all lists them)" in words(said)


def test_makers_that_may_not_be_listed_leave_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused = refusal(403, "Forbidden", "no")
    with api(pod(), changes={f"{APPS}/replicasets": refused}).serving() as server:
        reflet(server, "stale")

    output = capsys.readouterr()
    assert "replicaset/web-1 (1 pod)" in output.out
    assert "note: replicasets.apps could not be listed, so pods are shown under them" in output.err


def test_only_the_pods_of_a_target_are_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    other = pod("other")
    other["metadata"]["ownerReferences"] = []
    with api(pod(), other).serving() as server:
        reflet(server, "stale", "deploy/web")

    assert "1 running pod was checked" in capsys.readouterr().out


def test_a_target_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    there = {f"{APPS}/deployments": listed("Deployment", version="apps/v1")}
    with api(pod(), changes=there).serving() as server:
        code = reflet(server, "stale", "deploy/nope")

    assert code == 2
    assert "there is no deployment/nope in namespace default" in capsys.readouterr().err


def test_a_target_without_pods_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    there = {f"{APPS}/deployments/idle": {"metadata": {"name": "idle"}}}
    with api(pod(), changes=there).serving() as server:
        code = reflet(server, "stale", "deploy/idle")

    assert code == 0
    assert "note: deploy/idle has no pods that run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("deploy/web", "-A"), "a name is of one namespace"),
        (("deploy/web", "-l", "a=b"), "a name needs no selector"),
        (("--metrics-address", "127.0.0.1:0"), "--metrics-address serves what --watch sees"),
        (("--watch", "-o", "json"), "--watch prints lines"),
        (("--watch", "--metrics-address", "nowhere"), "'nowhere' is not HOST:PORT"),
        (("--dry-run",), "--dry-run and --yes are for --restart"),
        (("--restart",), "--restart asks on a terminal: give --yes, or --dry-run"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with api(pod()).serving() as server:
        code = reflet(server, "stale", *arguments)

    assert code == 2
    assert said in capsys.readouterr().err
    assert server.targets == []


def test_a_restart_leaves_alone_what_would_not_start_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = refusal(404, "NotFound", 'configmaps "settings" not found')
    with api(pod(), changes={f"{CORE}/configmaps/settings": gone}).serving() as server:
        code = reflet(server, "stale", "--restart", "--yes")

    assert code == 1
    assert (
        "deployment/web in default: left alone: its pods would not start again: "
        "ConfigMap settings does not exist any more"
    ) in capsys.readouterr().out
    assert {request.method for request in server.requests} == {"GET"}


def test_a_dry_run_says_what_would_be_restarted_and_does_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    alone = pod("alone")
    alone["metadata"]["ownerReferences"] = []
    with api(pod(), alone, changes={f"{APPS}/deployments/web": web}).serving() as server:
        code = reflet(server, "stale", "--restart", "--dry-run")

    output = capsys.readouterr().out
    assert code == 1
    assert "deployment/web in default: will be restarted" in output
    assert "pod/alone in default: left alone: no controller makes this pod again" in output
    assert {request.method for request in server.requests} == {"GET"}
