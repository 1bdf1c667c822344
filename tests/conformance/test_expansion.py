"""The recorded expansions of ``$(NAME)``, in values and in sub-paths."""

from __future__ import annotations

import json
from collections import ChainMap
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.containers import VolumeMount
from reflet.resolution.environment.expansion import expand
from reflet.resolution.problems import MissingSubPathVariables
from reflet.resolution.volumes.sub_paths import sub_path_of

DATA = Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "expansion.json").read_text())
SUB_PATHS = json.loads((DATA / "scenarios.json").read_text())["subpath_expr"]


@pytest.mark.parametrize("context", RECORDED["contexts"])
@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_recorded(case: dict[str, str], context: str) -> None:
    variables = ChainMap(*RECORDED["contexts"][context])

    assert expand(case["input"], variables.get) == case["expect"]


def test_recorded_chain() -> None:
    chain = RECORDED["chain"]
    variables = dict(chain["start"])

    for name, value in chain["assign"]:
        variables[name] = expand(value, variables.get)

    assert variables == chain["expect"]


@pytest.mark.parametrize(
    "case", RECORDED["observed"]["cases"], ids=lambda case: repr(case["input"])
)
def test_recorded_observation(case: dict[str, str]) -> None:
    assert expand(case["input"], RECORDED["observed"]["context"].get) == case["expect"]


@pytest.mark.parametrize("case", SUB_PATHS["cases"], ids=lambda case: repr(case["expr"]))
def test_recorded_sub_path(case: dict[str, Any]) -> None:
    mount = VolumeMount(name="data", sub_path_expr=case["expr"])

    sub_path = sub_path_of(mount, case["env"])

    if "error" in case:
        assert isinstance(sub_path, MissingSubPathVariables)
        assert sub_path.kubelet == case["error"]
    else:
        assert sub_path == case["expect"]
