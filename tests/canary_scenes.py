"""A shop full of secrets, each of them a canary.

Owns: the objects and kubeconfigs of the canary tests, and looking at everything that could have
let one out.  Must not know what is done with them.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from reflet.cli.main import run
from reflet.testing.pytest_plugin import RunningServer
from tests.canaries import all_loggers, canary, finds
from tests.integration.plain_client import Client

CORE: Final = "/api/v1/namespaces/default"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SECRET: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "database",
        "annotations": {LAST_APPLIED: json.dumps({"data": encoded(canary("annotation"))})},
    },
    "data": {
        "password": encoded(canary("password")),
        "PIN": encoded(canary("pin")),
        "1.not-a-name": encoded(canary("badname")),
    },
}
REGISTRY: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "type": "kubernetes.io/dockerconfigjson",
    "metadata": {"name": "registry"},
    "data": {
        ".dockerconfigjson": encoded(
            json.dumps({"auths": {"registry": {"password": canary("registry")}}})
        )
    },
}
SETTINGS: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"level": "info", "app.conf": "x=1\n"},
}


def pod(name: str, **changes: Any) -> dict[str, Any]:
    """A pod that takes secrets in every way there is."""
    container = {
        "name": "app",
        "image": "app:1",
        "command": ["sh", "-c", "while :; do sleep 0.05; done"],
        "env": [
            {
                "name": "PASSWORD",
                "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}},
            },
            {"name": "DSN", "value": "postgres://app:$(PASSWORD)@db"},
            {
                "name": "LEVEL",
                "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "level"}},
            },
        ],
        "envFrom": [{"prefix": "DB_", "secretRef": {"name": "database"}}],
        "volumeMounts": [
            {"name": "secret", "mountPath": "/etc/secret"},
            {"name": "all", "mountPath": "/etc/all"},
            {"name": "secret", "mountPath": "/etc/pin", "subPath": "PIN"},
        ],
        **changes.pop("container", {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
            "imagePullSecrets": [{"name": "registry"}],
            "volumes": [
                {
                    "name": "secret",
                    "secret": {
                        "secretName": "database",
                        "items": [
                            {"key": "password", "path": "password"},
                            {"key": "PIN", "path": "PIN"},
                        ],
                    },
                },
                {
                    "name": "all",
                    "projected": {
                        "sources": [
                            {"secret": {"name": "registry"}},
                            {"configMap": {"name": "settings"}},
                        ]
                    },
                },
            ],
            **changes,
        },
    }


BROKEN: Final = pod(
    "broken",
    container={
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "database", "key": "absent"}}},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "password"}}},
            {"name": "C", "value": "$(PASSWORD) $(DB_PIN)"},
        ]
    },
)
DEPLOYMENT: Final[dict[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "shop"},
    "spec": {
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {"metadata": {"labels": {"app": "shop"}}, "spec": pod("shop")["spec"]},
    },
}
OBJECTS: Final = (
    ("secrets", SECRET),
    ("secrets", REGISTRY),
    ("configmaps", SETTINGS),
    ("pods", pod("web")),
    ("pods", BROKEN),
)


# Every field that a pod can fill from a Secret, where it works and where it fails


PATHS: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "paths"},
    "data": {
        "short": encoded(canary("short")),
        "long": encoded(canary("long") + "z" * 300),
        "deep": encoded("/".join([canary("deep") + "z" * 200] * 20)),
        "below": encoded(f"{canary('file')}/{canary('below')}"),
        "above": encoded(f"../{canary('above')}"),
        "zero": encoded(f"{canary('zero')}\0"),
        "large": encoded(canary("large") * 8000),
    },
}
ENDS: Final = ("sh", "-c", "exit 3")


def filled(key: str, **container: Any) -> dict[str, Any]:
    """A container whose variable S is a key of a Secret."""
    source = {"secretKeyRef": {"name": "paths", "key": key}}
    return {
        "command": list(ENDS),
        "envFrom": [],
        "volumeMounts": [],
        **container,
        "env": [{"name": "S", "valueFrom": source}, *container.get("env", ())],
    }


def mounting(key: str, *, planted: str = "", volume: str = "work") -> dict[str, Any]:
    """A pod with a sub-path that is a key of a Secret; *planted* is run first, in the volume."""
    mount = {"name": volume, "mountPath": "/part", "subPathExpr": "$(S)"}
    first = {
        "name": "first",
        "image": "app:1",
        "command": ["sh", "-c", f"cd $REFLET_ROOT/work && {planted}"],
        "volumeMounts": [{"name": "work", "mountPath": "/work"}],
        "env": filled(key)["env"],
    }
    return {
        "container": filled(key, volumeMounts=[mount]),
        "initContainers": [first] if planted else [],
        "volumes": [
            {"name": "work", "emptyDir": {}},
            {"name": "secret", "secret": {"secretName": "paths", "items": ITEMS}},
        ],
    }


ITEMS: Final = [{"key": "short", "path": "short"}]
MISSING_ITEM: Final = [{"key": "absent", "path": "x"}]
FILLED: Final[Mapping[str, Mapping[str, Any]]] = {
    # Where it works
    "env": {"container": filled("short", env=[{"name": "T", "value": "a$(S)b"}])},
    "env-from": {"container": filled("short", envFrom=[{"secretRef": {"name": "database"}}])},
    "args": {"container": filled("short", args=["x", "$(S)"])},
    "sub-path": mounting("short"),
    "sub-path-of-secret": mounting("short", volume="secret"),
    # Where it fails
    "zero-in-variable": {"container": filled("zero")},
    "large-variable": {"container": filled("large")},
    "command": {"container": filled("short", command=["$(S)"])},
    "command-path": {"container": filled("short", command=["/$(S)/x"])},
    "working-dir": {"container": filled("short", workingDir="/$(S)")},
    "sub-path-long": mounting("long"),
    "sub-path-deep": mounting("deep"),
    "sub-path-above": mounting("above"),
    "sub-path-zero": mounting("zero"),
    "sub-path-file": mounting("below", planted='touch "${S%%/*}"'),
    "sub-path-link": mounting("short", planted='ln -s /etc "$S"'),
    "no-item": {
        "container": filled("short"),
        "volumes": [
            {"name": "secret", "secret": {"secretName": "paths", "items": MISSING_ITEM}},
        ],
    },
    "bad-path": {
        "container": filled("short"),
        "volumes": [
            {
                "name": "all",
                "projected": {
                    "sources": [
                        {"secret": {"name": "paths", "items": [{"key": "short", "path": "x"}]}},
                        {"secret": {"name": "paths", "items": [{"key": "long", "path": "x/y"}]}},
                    ]
                },
            },
        ],
    },
}
"""Pods by name: what is other than in ``pod``."""


def planted(server: RunningServer) -> None:
    """Put every object on the server."""
    client = Client(server.url, server.token)
    for plural, document in OBJECTS:
        client.create(f"{CORE}/{plural}", document)
    client.create("/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)


def manifest(folder: Path) -> Path:
    """Every object in a file, Secrets as people write them too."""
    written = {**SECRET, "stringData": {"token": canary("stringdata")}}
    documents = [written, REGISTRY, SETTINGS, pod("web"), BROKEN, DEPLOYMENT]
    path = folder / "shop.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return path


def kubeconfig(folder: Path, url: str, user: dict[str, Any], **cluster: Any) -> Path:
    """A kubeconfig for one user."""
    path = folder / "config"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "current-context": "here",
    }
    path.write_text(json.dumps(document))
    return path


@dataclass
class Ears:
    """Everything that was heard: what was printed, logged and otherwise told."""

    logged: list[str]
    told: list[str] = field(default_factory=list)

    def hear(self, *texts: str | bytes) -> None:
        """Take note of some output."""
        self.told += [
            text if isinstance(text, str) else text.decode("utf-8", "replace") for text in texts
        ]

    @property
    def leaks(self) -> list[str]:
        """Every canary among it."""
        return [find for text in (*self.told, *self.logged) for find in finds(text)]


@contextmanager
def listening() -> Iterator[Ears]:
    """Hear every logger at DEBUG while the context is open."""
    with all_loggers(logging.DEBUG) as logged:
        yield Ears(logged)


def command_lines(process: int) -> list[str]:
    """The command lines of a process and of all below it."""
    try:
        own = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        children = [
            int(child)
            for listing in Path(f"/proc/{process}/task").glob("*/children")
            for child in listing.read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [own, *(line for child in children for line in command_lines(child))]


# Commands, and how they are run


READING: Final = (
    ("get", "secrets"),
    ("get", "secrets", "-o", "wide"),
    ("get", "secrets", "-o", "json"),
    ("get", "secret/database", "-o", "yaml"),
    ("get", "secrets", "-o", "name"),
    ("get", "secret", "absent"),
    ("get", "pods", "-o", "yaml"),
    *(
        (command, target, *form)
        for command, forms in {
            "env": ((), ("-o", "json"), ("-o", "yaml"), ("-o", "dotenv"), ("-o", "docker")),
            "files": ((), ("-o", "json")),
            "refs": ((), ("-o", "json")),
            "explain": ((), ("-o", "json"), ("-o", "yaml")),
            "why": ((), ("-o", "json")),
            "rbac": ((),),
        }.items()
        for target in ("pod/web", "pod/broken", "deployment/shop")
        for form in forms
    ),
    ("used-by", "secret/database"),
    ("used-by", "secret/database", "--key", "password", "-o", "json"),
    *(("stale", "--all", "-o", form) for form in ("table", "json", "yaml", "prometheus")),
    *(("diff", "pod/web", "deployment/shop", "-o", form) for form in ("text", "json", "markdown")),
    ("unused", "--mentioned", "--show-reason"),
    ("unused", "-o", "json"),
    ("ui", "--once"),
    ("ui", "--once", "-A", "-o", "json"),
    ("api-resources",),
    ("doctor",),
    ("doctor", "-o", "json"),
    ("version",),
)
FROM_FILES: Final = (
    *(
        command
        for command in READING
        if command[0]
        in {"env", "files", "refs", "explain", "why", "rbac", "used-by", "diff", "unused"}
    ),
    ("ui", "--once"),
    ("ui", "--once", "-o", "json"),
    ("lint",),
    ("lint", "-o", "json"),
    ("lint", "-o", "sarif"),
    ("lint", "-o", "github"),
)


def users() -> Mapping[str, dict[str, Any]]:
    return {
        "token": {"token": canary("usertoken")},
        "basic": {"username": "me", "password": canary("userpassword")},
        "certificate": {
            "client-certificate-data": "QUJD",
            "client-key-data": "Q0FOQVJZLWtleS0wMDAwMDAwMA==",
        },
    }


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as heard:
        yield heard


@pytest.fixture
def shop(server: RunningServer) -> RunningServer:
    planted(server)
    return server


@pytest.fixture
def reflet_command(
    ears: Ears, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process; what it prints is heard."""

    def command(*arguments: str) -> tuple[int, str, str]:
        code = run(["reflet", *arguments])
        captured = capfd.readouterr()
        ears.hear(*captured)
        return code, *captured

    return command
