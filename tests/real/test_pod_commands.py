"""env, files, refs and explain against a real API server: the same answers as from files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.patience import Deadline
from tests.pod_examples import NO_KEY, OBJECTS, same_everywhere
from tests.real.access_rules import RBAC
from tests.real.kube_server import KubeServer

Run = Callable[..., subprocess.CompletedProcess[str]]

ALL_SOURCES: Mapping[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "i",
                        "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}},
                        "envFrom": [
                            {"prefix": "S_", "configMapRef": {"name": "special-config"}},
                            {"secretRef": {"name": "absent", "optional": True}},
                        ],
                        "env": [
                            {"name": "S_SPECIAL_TYPE", "value": "own"},
                            {"name": "BOTH", "value": "$(S_SPECIAL_LEVEL) $(S_SPECIAL_TYPE) $(NO)"},
                            {
                                "name": "CPU",
                                "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu"}},
                            },
                            {
                                "name": "NAME",
                                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                            },
                            {
                                "name": "PASSWORD",
                                "valueFrom": {
                                    "secretKeyRef": {"name": "mysecret", "key": "PASSWORD"}
                                },
                            },
                        ],
                    }
                ],
                "volumes": [
                    {
                        "name": "keys",
                        "secret": {
                            "secretName": "mysecret",
                            "items": [{"key": "PASSWORD", "path": "db/password", "mode": 0o400}],
                        },
                    }
                ],
            },
        },
    },
}


@pytest.fixture
def reflet(kube: KubeServer, namespace: str, tmp_path: Path) -> Run:
    config = tmp_path / "config"
    kube.write_kubeconfig(config, namespace=namespace)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "reflet", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "KUBECONFIG": str(config),
            },
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )

    return run


@pytest.fixture
def examples(kube: KubeServer, namespace: str, tmp_path: Path, reflet: Run) -> Path:
    """Put the examples on the server, and into a file with the server's own service."""
    with kube.connect() as connection:
        for plural, document in OBJECTS:
            connection.create(f"/api/v1/namespaces/{namespace}/{plural}", document)
        connection.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", ALL_SOURCES)
    service = reflet("get", "svc/kubernetes", "-n", "default", "-o", "json").stdout
    documents = [*(document for _, document in OBJECTS), ALL_SOURCES]
    path = tmp_path / "examples.json"
    path.write_text("\n".join([*(json.dumps(document) for document in documents), service]))
    return path


@pytest.mark.parametrize("target", ["secret-test-pod", "dapi-test-pod", "deploy/web"])
def test_the_environment_is_the_same_from_files_and_from_the_server(
    reflet: Run, examples: Path, namespace: str, target: str
) -> None:
    command = ("env", target, "-o", "json", "--reveal")

    online = reflet(*command)
    offline = reflet(*command, "-f", str(examples), "-n", namespace)

    assert online.returncode == offline.returncode
    assert same_everywhere(json.loads(online.stdout)) == same_everywhere(json.loads(offline.stdout))


def test_a_key_that_is_missing_on_purpose_stops_the_container(
    reflet: Run, examples: Path, namespace: str
) -> None:
    del examples  # they are on the server
    done = reflet("env", "pod/dapi-test-pod")

    assert done.returncode == 1
    assert NO_KEY.format(namespace=namespace) in done.stderr


def test_files_of_a_template_are_written(reflet: Run, examples: Path, tmp_path: Path) -> None:
    del examples  # they are on the server
    done = reflet("files", "deploy", "web", "--to", str(tmp_path / "out"))

    password = tmp_path / "out/keys/db/password"
    assert done.returncode == 0
    assert (password.read_text(), password.stat().st_mode & 0o777) == ("1f2d1e2e67df", 0o400)


@pytest.mark.parametrize("command", ["refs", "explain"])
def test_references_and_explanations_are_the_same(
    reflet: Run, examples: Path, namespace: str, command: str
) -> None:
    online, offline = (
        reflet(command, "deploy/web", "-o", "json", *more)
        for more in ((), ("-f", str(examples), "-n", namespace))
    )

    assert online.returncode == offline.returncode == 0
    assert same_everywhere(json.loads(online.stdout)) == same_everywhere(json.loads(offline.stdout))


@pytest.fixture
def reader(kube: KubeServer, namespace: str) -> str:
    """A user who may read pods and services, and nothing else."""
    rules = [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["services"], "verbs": ["list"]},
    ]
    binding = {
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "reader"}],
    }
    path = f"/apis/{RBAC}/v1/namespaces/{namespace}"
    with kube.connect() as connection:
        connection.create(f"{path}/roles", {"metadata": {"name": "reader"}, "rules": rules})
        connection.create(f"{path}/rolebindings", {"metadata": {"name": "reader"}, **binding})
    return "reader"


def test_who_may_read_the_pod_but_not_its_secret_is_told_so(
    reflet: Run, examples: Path, reader: str
) -> None:
    del examples  # they are on the server
    deadline = Deadline(30)
    while True:  # until the server has taken the rules in
        done = reflet("env", "secret-test-pod", "--as", reader)
        if done.returncode != 4 or deadline.passed:
            break

    assert done.returncode == 1
    assert "mysecret could not be read: " in done.stderr
    assert "note: service default/kubernetes could not be read" in done.stderr


def test_who_may_not_read_the_pod_is_refused(reflet: Run, examples: Path) -> None:
    del examples  # they are on the server
    done = reflet("env", "secret-test-pod", "--as", "nobody")

    assert (done.returncode, done.stdout) == (4, "")
