"""Descriptors, disk and memory run out under an agent and its shim, and nothing is left of it.

``REFLET_SEED`` tells another story, ``REFLET_SOAK_SECONDS`` a longer one (``make soak``).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.node_soak import CALM, NodeSoak

SECONDS: Final = float(os.environ.get("REFLET_SOAK_SECONDS", "20"))
SEED: Final = int(os.environ.get("REFLET_SEED", "14"))


@pytest.mark.story
@pytest.mark.time_limit(SECONDS + 4 * CALM)
async def test_an_agent_outlives_everything_that_runs_out(tmp_path: Path) -> None:
    story = await NodeSoak(tmp_path, seed=SEED, seconds=SECONDS).tell()
    sys.stdout.write(story.summary())

    assert story.wrong == [], f"seed {story.seed}"
