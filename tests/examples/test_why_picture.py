"""The picture of ``reflet why`` is what the command prints."""

from __future__ import annotations

import re

from docs.generators.why_picture import IMAGE, picture, recorded


def without_random_names(text: str) -> str:
    return re.sub(r"web-[a-z0-9]{8,10}(-[a-z0-9]{5})?", "web-…", text)


async def test_the_picture_shows_what_the_command_prints_today() -> None:
    drawn = picture(await recorded())

    assert without_random_names(IMAGE.read_text()) == without_random_names(drawn), (
        "out of date: run python -m docs.generators.why_picture"
    )
