"""The command ``demo``; that its story comes true is tests/integration/test_demo.py's."""

from __future__ import annotations

import logging

import pytest
from click.testing import CliRunner

from reflet.cli import demo_story
from reflet.cli.demo import demo


@pytest.mark.parametrize("arguments", [[], ["--keep"]])
def test_the_story_is_told(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []

    async def play(*, keep: bool) -> int:
        told.append(keep)
        return 0

    monkeypatch.setattr(demo_story, "play", play)
    level = logging.getLogger("reflet").level
    try:
        result = CliRunner().invoke(demo, arguments)
    finally:
        logging.getLogger("reflet").setLevel(level)

    assert (result.exit_code, told) == (0, [bool(arguments)])
