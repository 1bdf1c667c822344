"""A thousand pods and five thousand keys: the browser holds what is near the window."""

from __future__ import annotations

from tests.browser.browsing import Browser
from tests.browser.shops import crowd, edit_in_crowd, opened, page_of

ELEMENTS = "document.querySelectorAll('*').length"
MOST = 6000  # elements: what is near a window, and a heading for each workload


async def test_a_thousand_pods_are_shown_a_window_at_a_time(browser: Browser) -> None:
    async with page_of(crowd()) as page, browser.tab() as tab:
        await opened(tab, page)

        assert await tab.texts("#summary") == ["500 objects · 1,000 pods · 50 workloads"]
        assert await tab.get("document.querySelectorAll('.block').length") > 50
        assert await tab.get(ELEMENTS) < MOST
        await tab.get("scrollTo(0, document.body.scrollHeight)")
        await tab.until("/settings-2|settings-4/.test(document.body.innerText)")
        await tab.get("scrollTo(0, document.body.scrollHeight / 2)")
        await tab.until(
            "[...document.querySelectorAll('.pods')].some(each => each.checkVisibility())"
        )
        assert await tab.get(ELEMENTS) < MOST
        assert await tab.complaints() == []


async def test_what_is_far_away_is_found_by_its_name(browser: Browser) -> None:
    async with page_of(crowd()) as page, browser.tab() as tab:
        await opened(tab, page)

        await tab.do("fill", "#search", "app-49")
        await tab.until("document.querySelector('.pods')?.dataset.object.endsWith('/app-49')")

        assert await tab.get("document.querySelectorAll('.pods').length") == 1


async def test_many_edits_reach_the_page_one_after_the_other(browser: Browser) -> None:
    made = crowd()
    async with page_of(made) as page, browser.tab() as tab:
        await opened(tab, page)

        for number in range(20):
            edit_in_crowd(made, number, f"new {number}")
            page.changed()
            await tab.until(
                f"[...document.querySelectorAll('.edit a')].some("
                f"each => each.innerText === 'cm/settings-{number} KEY_{number}_0')"
            )

        assert (await tab.texts("#states .needs-restart b")) == ["400"]
        assert await tab.get(ELEMENTS) < MOST
        assert await tab.complaints() == []
