"""The recorded visits of a pod's ConfigMap and Secret names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.resolution.references.references import visit_config_map_names, visit_secret_names

RECORDED = json.loads((Path(__file__).parent / "data" / "visit_pod_names.json").read_text())
VISITS: dict[str, Callable[[Pod, Callable[[str], bool]], bool]] = {
    "configMaps": visit_config_map_names,
    "secrets": visit_secret_names,
}


@pytest.mark.parametrize("stop_at_first", [False, True], ids=["to the end", "stopped once"])
@pytest.mark.parametrize("kind", VISITS)
@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_recorded(case: dict[str, Any], kind: str, stop_at_first: bool) -> None:
    pod = codec.decode(json.dumps(case["pod"]).encode(), Pod)
    visited: list[str] = []

    def visitor(name: str) -> bool:
        visited.append(name)
        return not (stop_at_first and len(visited) == 1)

    completed = VISITS[kind](pod, visitor)

    expected = case[f"{kind}StopAtFirst" if stop_at_first else kind]
    assert (completed, visited) == (expected["completed"], expected["visited"])
