"""Finding something on the page: by words, by state, by address and by the keyboard."""

from __future__ import annotations

from typing import Any

from tests.browser.browsing import Browser, Tab
from tests.browser.shops import READY, opened, page_of, shop

FOCUSED = "document.activeElement.innerText.split('\\n')[0].trim()"
SHOWN = "[...document.querySelectorAll('.pods')].map(each => each.dataset.object)"


async def pressed(tab: Tab, *keys: str) -> Any:
    """What has the focus after these keys."""
    for key in keys:
        await tab.do("press", "body", key)
    return await tab.get(FOCUSED)


async def test_words_leave_what_has_them_all(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.do("press", "body", "/")
        await tab.do("fill", "#search", "PASSWORD billing")
        await tab.until(f"{SHOWN}.length === 1")

        assert await tab.get(SHOWN) == ["StatefulSet/shop/billing"]


async def test_a_state_leaves_what_is_in_it(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.do("click", "#states .missing")
        missing = await tab.get(SHOWN)
        await tab.do("press", "body", "p")
        everything = await tab.get(SHOWN)
        await tab.do("press", "body", "p")

        assert missing == ["Deployment/shop/edge"]
        assert len(everything) == 4
        assert await tab.get(SHOWN) == [
            "Deployment/shop/edge",
            "Deployment/shop/web",
            "StatefulSet/shop/billing",
        ]


async def test_an_address_shows_what_a_key_reaches_and_escape_everything(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.get("location.hash = '#Secret/shop/db/password'")
        await tab.until(f"{SHOWN}.length === 1")
        lit = await tab.texts(".row.lit")
        await tab.do("reload")
        await tab.until(f"{READY} && {SHOWN}.length === 1")
        chosen = await tab.texts("#chosen b")
        await tab.do("press", "body", "Escape")

        assert [row.split("\n")[0] for row in lit] == ["password", "DB_PASSWORD", "api"]
        assert chosen == ["Secret/shop/db/password"]
        assert len(await tab.get(SHOWN)) == 4


async def test_the_keyboard_reaches_every_line(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        assert await pressed(tab, "j") == "deploy/edge"
        assert await pressed(tab, "j") == "deploy/web ×14"  # noqa: RUF001 - the sign of the page
        assert await pressed(tab, "ArrowDown") == "web"
        assert await pressed(tab, "ArrowLeft") == "LOG_LEVEL"  # the nearest of its lines
        assert await pressed(tab, "ArrowDown", "ArrowDown", "ArrowUp") == "REGION"
        assert await pressed(tab, "ArrowLeft", "Enter") == "REGION"
        assert await tab.get("location.hash") == "#ConfigMap/shop/settings/REGION"
        assert await tab.get("document.querySelectorAll('[data-row][tabindex=\"0\"]').length") == 1


async def test_a_line_under_the_pointer_lights_its_path(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.do("hover", ".source .row:has-text('password')")
        await tab.until("document.querySelectorAll('#lines path.lit').length === 2")

        assert len(await tab.texts(".row.lit")) == 3


async def test_light_and_dark_can_be_chosen(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab(colorScheme="light") as tab:
        await opened(tab, page)
        colour = "getComputedStyle(document.body).backgroundColor"
        light = await tab.get(colour)

        await tab.do("press", "body", "t")

        assert light != await tab.get(colour)


async def test_print_has_every_line_and_no_tools(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.do("emulateMedia", {"media": "print"})
        await tab.get("dispatchEvent(new Event('beforeprint'))")

        assert await tab.get("getComputedStyle(document.querySelector('#lines')).display") == "none"
        assert await tab.get("document.querySelector('#search').checkVisibility()") is False
        assert "needs a restart" in " ".join(await tab.texts(".arrival .row"))
