"""Files as a page: what they hold arrives, and what they lack is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import Sources
from reflet.ui.file_board import board_of_files
from tests.page_scenes import NOW, SALT

MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {LEVEL: info}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
stringData: {password: hush-hush}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: db}}]
        env: [{name: X, valueFrom: {secretKeyRef: {name: absent, key: x}}}]
"""


def document(folder: Path, text: str = MANIFESTS, namespace: str = "") -> dict[str, Any]:
    path = folder / "shop.yaml"
    path.write_text(text)
    board = board_of_files(Sources(paths=(str(path),)), namespace=namespace, salt=SALT, now=NOW)
    board.refresh(NOW)
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(board.document(NOW)))
    return found


def test_what_files_hold_arrives_and_what_they_lack_is_missing(tmp_path: Path) -> None:
    workload = document(tmp_path)["workloads"]["Deployment/shop/web"]

    assert {each["name"]: each["to"][0]["state"] for each in workload["arrivals"]} == {
        "LEVEL": "current",
        "X": "missing",
        "password": "current",
    }
    [sentence] = workload["sentences"]
    assert sentence["title"] == "web cannot start: secret/absent does not exist"


def test_no_value_of_a_secret_is_in_the_document(tmp_path: Path) -> None:
    assert "hush-hush" not in str(document(tmp_path))


def test_what_a_server_would_refuse_is_noted(tmp_path: Path) -> None:
    broken = MANIFESTS.replace("{LEVEL: info}", "{LEVEL: info}\nimmutable: maybe")

    [note] = document(tmp_path, broken)["notes"]

    assert "the API server would refuse it" in note


def test_files_without_pods_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        document(tmp_path, MANIFESTS.partition("---")[0])
