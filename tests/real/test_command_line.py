"""The command line against a real API server: what a person sees, and what a script gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.real.kube_server import KubeServer

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``reflet`` as a person would, in a home of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-m", "reflet", *arguments],
            env={**inherited, **environment},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )

    return run


@pytest.fixture
def config(kube: KubeServer, namespace: str, tmp_path: Path) -> Path:
    path = tmp_path / "config"
    kube.write_kubeconfig(path, namespace=namespace)
    return path


def edited(config: Path, change: Callable[[Any], None]) -> str:
    document = json.loads(config.read_text())
    change(document)
    config.write_text(json.dumps(document))
    return str(config)


def user(document: Any) -> dict[str, Any]:
    found: dict[str, Any] = document["users"][0]["user"]
    found.clear()
    return found


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a failure; anything more is a failure of ours."""
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def create(kube: KubeServer, namespace: str, plural: str, document: Mapping[str, Any]) -> None:
    with kube.connect() as connection:
        connection.create(f"/api/v1/namespaces/{namespace}/{plural}", document)


def test_objects_are_shown_as_kubectl_shows_them(
    kube: KubeServer, namespace: str, config: Path, run: Run
) -> None:
    create(kube, namespace, "configmaps", {"metadata": {"name": "settings"}, "data": {"a": "1"}})

    done = run("get", "cm", KUBECONFIG=str(config))

    assert done.returncode == 0, done.stderr
    heading, row = done.stdout.splitlines()
    assert heading.split() == ["NAME", "DATA", "AGE"]
    assert row.split()[:2] == ["settings", "1"]


def test_nothing_found_is_said_on_stderr(config: Path, namespace: str, run: Run) -> None:
    done = run("get", "cm,secrets", KUBECONFIG=str(config))

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"No resources found in {namespace} namespace.\n"


def test_yaml_shows_a_secret_masked_unless_asked(
    kube: KubeServer, namespace: str, config: Path, run: Run
) -> None:
    create(
        kube, namespace, "secrets", {"metadata": {"name": "s"}, "stringData": {"k": "hush-hush"}}
    )

    masked = run("get", "secret/s", "-o", "yaml", KUBECONFIG=str(config))
    shown = run("get", "secret/s", "-o", "json", "--reveal", KUBECONFIG=str(config))

    assert "k: ‹secret 9 B›" in masked.stdout
    assert "aHVzaC1odXNo" not in masked.stdout
    assert json.loads(shown.stdout)["data"] == {"k": "aHVzaC1odXNo"}


def test_names_and_all_namespaces(kube: KubeServer, namespace: str, config: Path, run: Run) -> None:
    create(kube, namespace, "configmaps", {"metadata": {"name": "settings"}})

    names = run("get", "cm", "-o", "name", KUBECONFIG=str(config))
    everywhere = run("get", "cm", "-A", "--no-headers", KUBECONFIG=str(config))

    assert names.stdout == "configmap/settings\n"
    assert [namespace, "settings"] in [line.split()[:2] for line in everywhere.stdout.splitlines()]


def test_version_and_resources(config: Path, run: Run) -> None:
    version = run("version", KUBECONFIG=str(config))
    resources = run("api-resources", "--api-group", "apps", "-o", "name", KUBECONFIG=str(config))

    assert "Server: v1.36." in version.stdout
    assert "deployments.apps" in resources.stdout.splitlines()


def test_a_missing_object_is_a_finding(config: Path, run: Run) -> None:
    done = run("get", "cm/none", KUBECONFIG=str(config))

    assert done.returncode == 1
    assert failure(done) == 'error: configmaps "none" not found'


def test_a_missing_kubeconfig(run: Run) -> None:
    done = run("get", "cm", "--kubeconfig", "nope")

    assert done.returncode == 2
    assert failure(done) == "error: --kubeconfig nope: no such file"


def test_no_configuration_at_all(run: Run) -> None:
    done = run("get", "cm")

    assert done.returncode == 2
    assert ".kube/config" in failure(done)


def test_bad_yaml_in_the_kubeconfig(config: Path, run: Run) -> None:
    config.write_text("clusters:\n  - name: [\n")

    done = run("get", "cm", KUBECONFIG=str(config))

    assert done.returncode == 2
    assert f"{config}:" in failure(done)


def test_an_unknown_context_lists_those_there_are(config: Path, run: Run) -> None:
    done = run("get", "cm", "--context", "nope", KUBECONFIG=str(config))

    known = json.loads(config.read_text())["contexts"][0]["name"]
    assert done.returncode == 2
    assert "nope" in failure(done)
    assert known in failure(done)


def test_a_refused_connection(config: Path, run: Run) -> None:
    done = run("get", "cm", "--server", "https://127.0.0.1:1", KUBECONFIG=str(config))

    assert done.returncode == 3
    assert "https://127.0.0.1:1: connection refused" in failure(done)


def test_a_wrong_authority(kube: KubeServer, config: Path, run: Run) -> None:
    def change(document: Any) -> None:
        document["clusters"][0]["cluster"].pop("certificate-authority-data", None)
        document["clusters"][0]["cluster"]["certificate-authority"] = str(kube.client_ca_file)

    done = run("get", "cm", KUBECONFIG=edited(config, change))

    assert done.returncode == 3
    assert "certificate is not trusted" in failure(done)


def test_an_expired_token(config: Path, run: Run) -> None:
    def change(document: Any) -> None:
        user(document)["token"] = "expired-token-canary"

    done = run("get", "cm", KUBECONFIG=edited(config, change))

    assert done.returncode == 3
    assert "Unauthorized" in failure(done)
    assert "canary" not in done.stderr


def test_an_expired_client_certificate(kube: KubeServer, config: Path, run: Run) -> None:
    certificate = kube.client_certificate("late", (), valid_for=timedelta(hours=-1))

    def change(document: Any) -> None:
        user(document).update(
            {
                "client-certificate": str(certificate.certificate_file),
                "client-key": str(certificate.key_file),
            }
        )

    done = run("get", "cm", KUBECONFIG=edited(config, change))

    assert done.returncode == 2
    assert "expired" in failure(done)


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (None, "get-token"),
        ("#!/bin/sh\nexit 3\n", "3"),
        ("#!/bin/sh\necho garbage-canary\n", "ExecCredential"),
    ],
    ids=["missing", "fails", "garbage"],
)
def test_a_broken_exec_plugin(
    config: Path, tmp_path: Path, run: Run, plugin: str | None, expected: str
) -> None:
    command = tmp_path / "get-token"
    if plugin is not None:
        command.write_text(plugin)
        command.chmod(0o755)

    def change(document: Any) -> None:
        user(document)["exec"] = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(command),
            "interactiveMode": "Never",
        }

    done = run("get", "cm", KUBECONFIG=edited(config, change))

    assert done.returncode == 3
    assert expected in failure(done)
    assert "canary" not in done.stderr


def test_a_forbidden_list(kube: KubeServer, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "restricted"
    kube.write_kubeconfig(path, "restricted", namespace="default")

    done = run("get", "secrets", KUBECONFIG=str(path))

    assert done.returncode == 4
    assert 'cannot list resource "secrets"' in failure(done)


def test_a_bad_selector_is_a_usage_mistake(config: Path, run: Run) -> None:
    done = run("get", "cm", "-l", "a in (b", KUBECONFIG=str(config))

    assert done.returncode == 2
    assert "a in (b" in failure(done)


def test_an_unknown_type_is_asked_for_and_suggested(config: Path, run: Run) -> None:
    done = run("get", "configmapz", KUBECONFIG=str(config))

    assert done.returncode == 2
    assert "did you mean configmaps" in failure(done)
