"""The page in a real browser: every state, a change that arrives, and who may see it."""

from __future__ import annotations

import pytest

from tests.browser.browsing import Browser, Tab
from tests.browser.shops import READY, edit, opened, page_of, shop
from tests.page_scenes import OF_WEB, WHOLE, board, config_map, pod

HOSTILE = "<img src=x onerror=document.title=1></script>{ago}\u202e"


async def states(tab: Tab) -> dict[str, str]:
    """What each way of arriving is said to be."""
    rows = await tab.texts(".arrival .row")
    return {row.split("\n")[0]: row.split("\n")[1].strip() for row in rows}


async def test_every_state_is_said_in_words(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        assert await states(tab) == {
            "/etc/tls": "✕ missing",
            "/app/legacy.yaml": "▲ needs a restart",
            "DB_PASSWORD": "▲ needs a restart",
            "/run/db/username": "● current",
            "/etc/shop/app.yaml": "◐ on its way",
            "LOG_LEVEL": "● current",
            "REGION": "● current",
            "app.yaml": "▲ needs a restart",
            "registry": "● current",
            "*": "? not known",
        }
        assert await tab.complaints() == []


async def test_pods_of_which_the_same_is_to_be_said_are_one_row(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        assert "deploy/web \u00d714" in await tab.texts(".pods h3")


async def test_what_is_wrong_is_said_with_the_command_that_repairs_it(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)

        assert await tab.texts(".why code") == [
            "kubectl -n shop create secret generic tls --from-file=tls.crt --from-file=tls.key",
            "kubectl -n shop rollout restart deployment/web",
            "kubectl -n shop rollout restart statefulset/billing",
        ]


async def test_a_change_arrives_where_it_belongs_and_nothing_jumps(browser: Browser) -> None:
    made = shop()
    async with page_of(made) as page, browser.tab() as tab:
        await opened(tab, page)
        order = await tab.get("[...document.querySelectorAll('.block')].map(each => each.id)")

        edit(made)
        page.changed()
        await tab.until(
            "[...document.querySelectorAll('.arrival .row')].some("
            "row => /LOG_LEVEL[^]*needs a restart/.test(row.innerText))"
        )

        assert order == await tab.get(
            "[...document.querySelectorAll('.block')].map(each => each.id)"
        )
        assert (await tab.texts(".edit a"))[0] == "cm/settings LOG_LEVEL"
        steps = await tab.texts(".edit:first-child .step")
        assert steps[1] == "cache +3 ms"
        assert steps[-1] == "process 14 of 14 containers not reached"
        assert await tab.complaints() == []


async def test_after_the_server_was_away_the_page_is_live_again(browser: Browser) -> None:
    async with browser.tab() as tab:
        async with page_of(shop(), token="one-token") as page:
            port = page.port
            await opened(tab, page)
        await tab.until("document.body.dataset.connection === 'away'")
        kept = len(await tab.texts(".block"))

        async with page_of(board(config_map({"a": "1"}, "new")), token="one-token", port=port):
            await tab.until("document.body.dataset.connection === 'live'")
            await tab.until("document.body.innerText.includes('cm/new')")

        assert kept > 3


async def test_the_token_leaves_the_address_and_a_reload_still_has_it(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await opened(tab, page)
        address = await tab.get("location.href")

        await tab.do("reload")
        await tab.until(READY)

        assert page.token not in address


async def test_without_its_token_the_page_asks_for_it(browser: Browser) -> None:
    async with page_of(shop()) as page, browser.tab() as tab:
        await tab.do("goto", page.url.partition("#")[0])
        await tab.until("document.querySelector('#door').open")
        nothing = await tab.texts(".row")
        await tab.do("fill", "#token", page.token)
        await tab.do("press", "#token", "Enter")
        await tab.until(READY)

        assert nothing == []


async def test_names_and_values_that_mean_harm_are_only_text(browser: Browser) -> None:
    item = config_map({HOSTILE: HOSTILE, "LEVEL": HOSTILE}, by=HOSTILE)
    shown = board(item, pods=(pod(WHOLE, metadata=OF_WEB),))
    async with page_of(shown) as page, browser.tab() as tab:
        await opened(tab, page)

        assert await tab.get("document.querySelectorAll('#blocks img, #blocks script').length") == 0
        assert HOSTILE in (await tab.get("document.querySelector('.source .name').textContent"))
        assert await tab.get("document.title") == "shop · reflet"
        assert await tab.complaints() == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
async def test_nothing_is_inaccessible(browser: Browser, scheme: str, width: int) -> None:
    size = {"width": width, "height": 800}
    async with page_of(shop()) as page, browser.tab(colorScheme=scheme, viewport=size) as tab:
        await opened(tab, page)

        assert await tab.do("axe") == []
        assert await tab.get("document.documentElement.scrollWidth") <= width
