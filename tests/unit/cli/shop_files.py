"""A shop in one file, and the command line run on files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reflet.cli.main import run

SHOP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      enableServiceLinks: false
      initContainers: [{name: setup, image: i}]
      containers:
      - name: web
        image: shop/web:1
        envFrom:
        - configMapRef: {name: settings}
        - {prefix: DB_, secretRef: {name: database}}
        env:
        - {name: LOG_LEVEL, value: debug}
        - {name: DB_URL, value: "postgres://$(DB_USER):$(DB_PASSWORD)@db/$(SHOP)"}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        volumeMounts:
        - {name: config, mountPath: /etc/shop}
        - {name: config, mountPath: /etc/motd, subPath: motd}
      - name: sidecar
        image: shop/sidecar:1
        volumeMounts: [{name: keys, mountPath: /keys}]
      volumes:
      - {name: config, configMap: {name: settings}}
      - name: keys
        projected:
          sources:
          - secret: {name: database, items: [{key: PASSWORD, path: db/password, mode: 0400}]}
          - serviceAccountToken: {path: token}
      - {name: scratch, emptyDir: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {LOG_LEVEL: info, SHOP: main, motd: "welcome"}
---
apiVersion: v1
kind: Secret
metadata: {name: database, namespace: shop}
stringData: {USER: shop, PASSWORD: geheim}
"""


class Shown(NamedTuple):
    """What one command printed, and its exit code."""

    code: int
    output: str
    errors: str


Reflet = Callable[..., Shown]


class OnFiles:
    """Runs commands on texts that it writes to files first."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = folder / "shop.yaml"
        self._capsys = capsys

    def __call__(self, text: str, *arguments: str) -> Shown:
        self.path.write_text(text)
        code = run(["reflet", *arguments, "-f", str(self.path)])
        return Shown(code, *self._capsys.readouterr())


def pod(container: str = "", more: str = "") -> str:
    """Return a pod ``web`` whose container has these fields; *more* are further documents."""
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  enableServiceLinks: false\n"
        f"  containers:\n  - {{name: web, image: i, {container}}}\n{more}"
    )


def config_map(data: str, name: str = "settings") -> str:
    """Return a ConfigMap, as a further document."""
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n"
