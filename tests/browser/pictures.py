"""Takes the pictures of the page for the documentation: ``make pictures``.

What they show is the shop of the tests, just after somebody has changed a key.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from reflet.ui.board import Board
from tests.browser.browsing import Browser, missing_browser
from tests.browser.shops import crowd, edit, edit_in_crowd, opened, page_of, shop

IMAGES: Final = Path(__file__).parents[2] / "docs/images"


async def take(
    browser: Browser,
    name: str,
    board: Board,
    *,
    width: int,
    height: int,
    whole: bool = False,
    **options: Any,
) -> None:
    """Take one picture; what is called ``.jpg`` is small."""
    size = {"width": width, "height": height}
    async with page_of(board) as page, browser.tab(viewport=size, **options) as tab:
        await opened(tab, page)
        shot = {"path": str(IMAGES / name), "animations": "disabled", "fullPage": whole}
        small = {"type": "jpeg", "quality": 60} if name.endswith(".jpg") else {}
        await tab.do("screenshot", {**shot, **small})


async def main() -> None:
    """Take all of them."""
    edited, busy = shop(with_vault=False), crowd()
    edit(edited)
    for number in (0, 3, 7):
        edit_in_crowd(busy, number, "new")
    with tempfile.TemporaryDirectory() as home, Browser(Path(home)) as browser:
        await take(browser, "ui.png", edited, width=1200, height=900, whole=True)
        await take(browser, "ui-dark.png", edited, width=1200, height=640, colorScheme="dark")
        await take(browser, "ui-phone.png", edited, width=390, height=780, colorScheme="light")
        await take(browser, "ui-crowd.png", busy, width=1200, height=760, colorScheme="light")
        # For the moving picture, which is as wide as a terminal.
        for name, scheme in (("ui-small.jpg", "light"), ("ui-small-dark.jpg", "dark")):
            await take(
                *(browser, name, edited),
                width=1124,
                height=800,
                colorScheme=scheme,
                deviceScaleFactor=0.8,
            )


if __name__ == "__main__":
    if missing := missing_browser():
        sys.exit(missing)
    asyncio.run(main())
