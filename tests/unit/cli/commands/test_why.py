"""``reflet why``: what a person sees, and what a script gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

CANARY = "canary-hush-hush"
DAPI = """\
apiVersion: v1
kind: Pod
metadata:
  name: dapi-test-pod
spec:
  containers:
    - name: test-container
      image: k8s.gcr.io/busybox
      command: [ "/bin/sh", "-c", "env" ]
      env:
        - name: SPECIAL_LEVEL_KEY
          valueFrom:
            configMapKeyRef:
              name: special-config
              key: special.how
  restartPolicy: Never
---
apiVersion: v1
kind: ConfigMap
metadata: {name: special-config}
data: {SPECIAL_LEVEL: very, SPECIAL_TYPE: charm}
"""
POD: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
    "spec": {
        "enableServiceLinks": False,
        "imagePullSecrets": [],
        "containers": [
            {
                "name": "web",
                "env": [
                    {
                        "name": "PASSWORD",
                        "valueFrom": {"secretKeyRef": {"name": "database", "key": "passwort"}},
                    }
                ],
            }
        ],
    },
    "status": {
        "phase": "Pending",
        "containerStatuses": [
            {
                "name": "web",
                "state": {
                    "waiting": {
                        "reason": "CreateContainerConfigError",
                        "message": "couldn't find key passwort in Secret default/database",
                    }
                },
            }
        ],
    },
}
SECRET: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "database", "namespace": "default"},
    "data": {"password": "Y2FuYXJ5LWh1c2gtaHVzaA=="},
}
SERVICE: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "kubernetes", "namespace": "default"},
    "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 443}]},
}
EVENTS: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "EventList",
    "metadata": {},
    "items": [
        {
            "metadata": {"name": "e1", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "web", "uid": "u1"},
            "type": "Warning",
            "reason": "BackOff",
            "message": "Back-off pulling image",
            "count": 7,
        }
    ],
}
BASE = "/api/v1/namespaces/default"
DOCUMENTS = {
    f"{BASE}/pods/web": POD,
    f"{BASE}/secrets/database": SECRET,
    f"{BASE}/services/kubernetes": SERVICE,
    f"{BASE}/events": EVENTS,
}


@pytest.fixture
def why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def why(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "a.yaml"
        path.write_text(text)
        code = run(["reflet", "why", "-f", str(path), *arguments])
        output = capsys.readouterr()
        return code, output.out, output.err.replace(str(tmp_path), "")

    return why


def test_the_missing_key_of_the_seeds_example_is_told(why: Any) -> None:
    code, output, errors = why(DAPI)

    assert (code, errors) == (1, "")
    assert (
        output
        == """\
Pod default/dapi-test-pod: 1 reason keeps it from starting

1. ConfigMap default/special-config has no key special.how; it has
   SPECIAL_LEVEL, SPECIAL_TYPE
   where     container test-container, variable SPECIAL_LEVEL_KEY
             (spec.containers[0].env[0].valueFrom.configMapKeyRef)
   kubelet   couldn't find key special.how in ConfigMap default/special-config
   shown as  container waiting: CreateContainerConfigError
   fix       add key special.how to ConfigMap special-config, or use a key it
             has
"""
    )


def test_a_healthy_pod_is_told_to_be_one(why: Any) -> None:
    code, output, _ = why(DAPI.replace("SPECIAL_LEVEL: very", "special.how: very"))

    assert (code, output) == (
        0,
        "Pod default/dapi-test-pod: nothing in its configuration keeps it from starting\n",
    )


def test_a_pod_that_only_starts_wrongly_is_a_finding(why: Any) -> None:
    text = DAPI.replace("special.how\n", "SPECIAL_LEVEL\n").replace(
        '"env" ]', '"$(SPECIAL_LEVL_KEY)" ]'
    )

    code, output, _ = why(text)

    assert code == 1
    assert output.startswith(
        "Pod default/dapi-test-pod: nothing keeps it from starting; 1 thing to fix\n"
    )
    assert "fix     did you mean $(SPECIAL_LEVEL_KEY)?\n" in output


HEALTHY = DAPI.replace("SPECIAL_LEVEL: very", "special.how: very")
PULLED = HEALTHY.replace("spec:\n", "spec:\n  imagePullSecrets: [{name: registry}]\n", 1)


def test_a_missing_pull_secret_is_told_and_no_failure(why: Any) -> None:
    code, output, _ = why(PULLED)

    assert code == 0
    assert "nothing keeps it from starting; 1 thing to fix\n" in output
    assert "Secret default/registry does not exist" in output


@pytest.mark.parametrize(
    ("reason", "code"), [("ErrImagePull", 1), ("FailedToRetrieveImagePullSecret", 0)]
)
def test_a_missing_pull_secret_is_a_failure_when_the_image_is_not_pulled(
    reason: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "Unable to retrieve some image pull secrets (registry)"
    spec = {
        **POD["spec"],
        "imagePullSecrets": [{"name": "registry"}],
        "containers": [{"name": "web"}],
    }
    event = {**EVENTS["items"][0], "reason": reason, "message": message}
    documents = {
        **DOCUMENTS,
        f"{BASE}/pods/web": {**POD, "spec": spec, "status": {"phase": "Pending"}},
        f"{BASE}/events": {**EVENTS, "items": [event]},
    }

    with ScriptedApi(documents).serving() as api:
        assert reflet(api, "why", "web") == code

    assert f"seen      event: {reason} (7 times)" in capsys.readouterr().out


def test_yaml_is_the_same_document(why: Any) -> None:
    code, output, _ = why(DAPI, "-o", "yaml")

    assert (code, output.splitlines()[:2]) == (
        1,
        ["apiVersion: reflet.dev/v1alpha1", "kind: Diagnosis"],
    )


def test_a_pod_that_the_server_would_refuse_is_a_finding(why: Any) -> None:
    code, output, _ = why(DAPI.replace("      image: k8s.gcr.io/busybox\n", "      image: ''\n"))

    assert code == 1
    said = " ".join(output.split())
    assert "the API server would refuse it" in said
    assert "spec.containers[0].image: Required value" in said


def test_a_refused_config_map_is_to_be_corrected(why: Any) -> None:
    code, output, _ = why(DAPI.replace("SPECIAL_TYPE: charm", "'a b': charm"))

    assert code == 1
    said = " ".join(output.split())
    assert "does not exist: the API server refuses it" in said
    assert "a.yaml:18: " in said


def test_programs_get_a_document(why: Any) -> None:
    code, output, _ = why(DAPI, "-o", "json")

    document = json.loads(output)
    (reason,) = document.pop("reasons")
    assert code == 1
    assert document == {
        "apiVersion": "reflet.dev/v1alpha1",
        "kind": "Diagnosis",
        "wrong": True,
        "unexplained": [],
        "unknown": [],
        "objects": [
            {
                "kind": "Pod",
                "namespace": "default",
                "name": "dapi-test-pod",
                "wrong": True,
                "wantsNoPods": False,
                "summary": None,
                "pods": {"wrong": 1},
                "members": [],
            }
        ],
        "totals": {
            "pods": 1,
            "podsFine": 0,
            "podsStarting": 0,
            "podsLeftBehind": 0,
            "podsWaiting": 0,
            "podsWrong": 1,
            "workloads": 0,
            "workloadsWrong": 0,
            "workloadsIdle": 0,
        },
        "notLookedAt": [],
        "notes": [],
    }
    assert reason["affected"] == [
        {"kind": "Pod", "namespace": "default", "name": "dapi-test-pod", "pods": ["dapi-test-pod"]}
    ]
    assert (reason["type"], reason["stops"], reason["certain"]) == ("MissingKey", True, True)
    assert reason["shownAs"] == {
        "source": "container waiting",
        "reason": "CreateContainerConfigError",
    }
    assert reason["places"] == [
        {
            "path": "spec.containers[0].env[0].valueFrom.configMapKeyRef",
            "container": "test-container",
            "variable": "SPECIAL_LEVEL_KEY",
        }
    ]


def test_a_cluster_is_asked_for_status_and_events(capsys: pytest.CaptureFixture[str]) -> None:
    api = ScriptedApi(DOCUMENTS)

    with api.serving():
        code = reflet(api, "why", "pod/web")

    output = capsys.readouterr().out
    assert code == 1
    assert (
        output
        == """\
Pod default/web: 1 reason keeps it from starting

1. Secret default/database has no key passwort; it has password
   where     container web, variable PASSWORD
             (spec.containers[0].env[0].valueFrom.secretKeyRef)
   kubelet   couldn't find key passwort in Secret default/database
   shown as  container waiting: CreateContainerConfigError
   seen      container web: CreateContainerConfigError: couldn't find key
             passwort in Secret default/database
   fix       did you mean password? Otherwise add key passwort to Secret
             database

Seen in the cluster, not configuration:
- event: BackOff (7 times): Back-off pulling image
"""
    )
    assert {target.partition("?")[0] for target in api.targets} == set(DOCUMENTS)
    assert CANARY not in output


def test_what_may_not_be_read_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    forbidden = refusal(403, "Forbidden", "secrets is forbidden: you cannot get it")
    api = ScriptedApi({**DOCUMENTS, f"{BASE}/secrets/database": forbidden})

    with api.serving():
        code = reflet(api, "why", "web")

    output = capsys.readouterr().out
    assert code == 1
    assert "Secret default/database could not be read" in output
    assert "note      this is what you may read; a kubelet may have other rights" in output
    assert "Seen in the cluster, not explained by the configuration as it is now:" in output


def test_events_that_may_not_be_read_do_not_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    api = ScriptedApi({**DOCUMENTS, f"{BASE}/events": refusal(403, "Forbidden", "no events")})

    with api.serving():
        code = reflet(api, "why", "web")

    assert code == 1
    assert "Not checked:\n- events: forbidden, it takes list of events\n" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("deploy/a", "b"), "'b' has no name beside arguments that have one"),
        (("pod/a", "-l", "app=b"), "a name needs no selector"),
        (("pod/a", "-A"), "a name is of one namespace"),
        (("",), "an empty name"),
        (("-l", "app=nobody", "-f", "a.yaml"), "no pod or workload of the files has app=nobody"),
        (("deploy", "-f", "a.yaml"), "the files hold no deploy; they hold pod/dapi-test-pod"),
        (("cm/x", "-f", "a.yaml"), "configmaps are no pods and make none"),
        (("-f", "missing.yaml"), "cannot read missing.yaml: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(DAPI)

    code = run(["reflet", "why", *arguments])

    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    (line,) = output.err.splitlines()
    assert said in line


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--no-config",), 1)])
def test_what_the_project_assumes_is_not_missing(
    flags: tuple[str, ...],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(DAPI)
    Path(".reflet.yaml").write_text('lint: {assume: ["cm/special-config:special.how"]}\n')

    assert run(["reflet", "why", "-f", "a.yaml", *flags]) == code

    assert ("has no key special.how" in capsys.readouterr().out) == bool(code)


def test_a_mistake_in_the_project_file_is_none_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(DAPI)
    Path(".reflet.yaml").write_text("lint: {asume: []}\n")

    assert run(["reflet", "why", "--kubeconfig", "missing"]) == 2
    assert "asume" not in capsys.readouterr().err
    assert run(["reflet", "why", "-f", "a.yaml"]) == 2
    assert "asume" in capsys.readouterr().err
