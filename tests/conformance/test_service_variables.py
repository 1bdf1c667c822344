"""The recorded variables of services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.services import Service
from reflet.resolution.environment.service_variables import variables_of

RECORDED = json.loads((Path(__file__).parent / "data" / "from_services.json").read_text())


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_recorded(case: dict[str, Any]) -> None:
    services = [codec.decode(json.dumps(item).encode(), Service) for item in case["services"]]

    made = [[item.name, item.value] for item in variables_of(services)]

    assert made == case["expect"]
