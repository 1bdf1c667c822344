"""Scenes for the commands that explain: the same on the development server and a real one.

Owns: the objects, and what the commands say about them from a server and from files.  Must not
know which server it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.cli.main import run

CANARY: Final = "canary-hush-hush"
Create = Callable[[str, Mapping[str, Any]], Any]
"""Creates an object at the path of its collection, below the namespace's own."""

# The seeds' example, whose key is missing on purpose.
DAPI_TEST_POD: Final[Mapping[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "dapi-test-pod"},
    "spec": {
        "containers": [
            {
                "name": "test-container",
                "image": "k8s.gcr.io/busybox",
                "command": ["/bin/sh", "-c", "env"],
                "env": [
                    {
                        "name": "SPECIAL_LEVEL_KEY",
                        "valueFrom": {
                            "configMapKeyRef": {"name": "special-config", "key": "special.how"}
                        },
                    }
                ],
            }
        ],
        "restartPolicy": "Never",
    },
}
SPECIAL_CONFIG: Final[Mapping[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "special-config"},
    "data": {"SPECIAL_LEVEL": "very", "SPECIAL_TYPE": "charm"},
}
DATABASE: Final[Mapping[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "database"},
    "stringData": {"password": CANARY},
    "immutable": True,
}
TEMPLATE: Final[Mapping[str, Any]] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "enableServiceLinks": False,
        "containers": [
            {
                "name": "web",
                "image": "web",
                "env": [
                    {
                        "name": "PASSWORD",
                        "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}},
                    }
                ],
                "volumeMounts": [{"name": "keys", "mountPath": "/keys"}],
            }
        ],
        "volumes": [{"name": "keys", "secret": {"secretName": "database"}}],
    },
}
DEPLOYMENT: Final[Mapping[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}


DASHBOARD: Final[Mapping[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "dash", "labels": {"grafana_dashboard": "1"}},
    "data": {"shop.json": "{}"},
}
GRAFANA: Final[Mapping[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "grafana"},
    "spec": {
        "selector": {"matchLabels": {"app": "grafana"}},
        "template": {
            "metadata": {"labels": {"app": "grafana"}},
            "spec": {
                "containers": [
                    {
                        "name": "dashboards",
                        "image": "quay.io/kiwigrid/k8s-sidecar:2.10.1",
                        "env": [
                            {"name": "LABEL", "value": "grafana_dashboard"},
                            {"name": "LABEL_VALUE", "value": "1"},
                            {"name": "FOLDER", "value": "/tmp/dashboards"},
                            {"name": "NAMESPACE", "value": "ALL"},
                        ],
                    }
                ]
            },
        },
    },
}


class Commands:
    """The command line, against one server and its namespace, and on files."""

    def __init__(
        self, kubeconfig: Path, namespace: str, capsys: pytest.CaptureFixture[str], folder: Path
    ) -> None:
        self._connection = ("--kubeconfig", str(kubeconfig), "-n", namespace)
        self._namespace = namespace
        self._capsys = capsys
        self._folder = folder

    def on_server(self, *arguments: str) -> tuple[int, Any]:
        """Run a command; the answer is its exit code and its document."""
        return self._run(*arguments, *self._connection)

    def on_files(self, *arguments: str, objects: list[Mapping[str, Any]]) -> tuple[int, Any]:
        """Run a command on objects in a file, in the same namespace."""
        return self._run(*arguments, "-n", self._namespace, "-f", self.saved(objects))

    def saved(self, objects: list[Mapping[str, Any]]) -> str:
        """Save objects as one file, and name it."""
        path = self._folder / "objects.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return str(path)

    def _run(self, *arguments: str) -> tuple[int, Any]:
        code = run(["reflet", *arguments, "-o", "json"])
        output = self._capsys.readouterr()
        assert CANARY not in output.out + output.err
        return code, json.loads(output.out) if output.out else output.err


def check_the_missing_key_of_the_seeds_example(commands: Commands, create: Create) -> None:
    """``why`` says the same from the server and from files."""
    create("configmaps", SPECIAL_CONFIG)
    create("pods", DAPI_TEST_POD)

    from_server = commands.on_server("why", "dapi-test-pod")
    from_files = commands.on_files("why", objects=[DAPI_TEST_POD, SPECIAL_CONFIG])

    code, document = from_server
    (reason,) = document["reasons"]
    assert code == 1
    assert reason["message"].endswith(
        "/special-config has no key special.how; it has SPECIAL_LEVEL, SPECIAL_TYPE"
    )
    assert reason["kubelet"].startswith("couldn't find key special.how in ConfigMap ")
    assert (from_files[0], from_files[1]["reasons"]) == (code, document["reasons"])


def check_users_of_a_secret(commands: Commands, create: Create) -> None:
    """``used-by`` says the same from the server and from files."""
    create("secrets", DATABASE)
    create("/apis/apps/v1/deployments", DEPLOYMENT)

    code, from_server = commands.on_server("used-by", "secret/database")
    _, from_files = commands.on_files("used-by", "secret/database", objects=[DEPLOYMENT, DATABASE])

    (user,) = from_server["users"]
    assert (code, user["kind"], user["restart"]) == (0, "Deployment", True)
    assert [use["change"] for use in user["uses"]] == ["restart", "live"]
    assert from_files["users"] == from_server["users"]
    assert from_server["notes"] == []


def check_users_by_label(commands: Commands, create: Create) -> None:
    """``used-by`` and ``refs`` know what a sidecar picks up, from the server and from files."""
    create("configmaps", DASHBOARD)
    create("/apis/apps/v1/deployments", GRAFANA)

    code, from_server = commands.on_server("used-by", "cm/dash")
    _, from_files = commands.on_files("used-by", "cm/dash", objects=[GRAFANA, DASHBOARD])
    _, references = commands.on_server("refs", "deploy/grafana")

    (user,) = from_server["users"]
    (use,) = user["uses"]
    assert (code, user["name"], use["as"]) == (0, "grafana", "sidecar")
    assert (use["selection"], use["change"]) == ("label grafana_dashboard=1", "live")
    assert from_files["users"] == from_server["users"]
    assert references["selections"][0]["labelSelector"] == "grafana_dashboard=1"


def check_an_immutable_object_that_changed(commands: Commands, create: Create) -> None:
    """``lint --against cluster`` finds what the server would refuse."""
    create("secrets", DATABASE)
    changed = {**DATABASE, "stringData": {"password": "canary-changed"}}
    path = commands.saved([changed, DEPLOYMENT])

    code, document = commands.on_server("lint", "-f", path, "--against", "cluster")

    (finding,) = document["findings"]
    assert (code, finding["rule"]) == (1, "RFL013")
    assert finding["message"].endswith("is immutable in the cluster and differs in password")
