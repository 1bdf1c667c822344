"""The whole way: from an edit on an API server to the page, and a report that needs nobody."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path

import reflet
from reflet.api.core.config import ConfigMap
from reflet.testing.pytest_plugin import RunningServer
from reflet.ui.board import Board
from reflet.ui.cluster_board import ClusterBoard
from reflet.ui.report import report
from tests.browser.browsing import Browser
from tests.browser.shops import NOW, READY, opened, page_of, shop

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [
            {
                "name": "web",
                "image": "web",
                "envFrom": [{"configMapRef": {"name": "settings"}}],
            }
        ]
    },
}


async def test_an_edit_on_a_server_arrives_in_the_browser(
    browser: Browser, reflet_server: RunningServer
) -> None:
    made = Board("default", "live", salt=secrets.token_bytes(), began=datetime.now(UTC))
    page = page_of(made)
    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        pods, config_maps = cluster.resource("pods"), cluster.resource(ConfigMap)
        await config_maps.create({"metadata": {"name": "settings"}, "data": {"LEVEL": "info"}})
        await pods.create(POD)
        filling = ClusterBoard(cluster, made, namespaces=("default",), on_change=page.changed)
        async with filling, browser.tab() as tab:
            await filling.ready(20)
            async with page:
                await opened(tab, page)
                await config_maps.patch("settings", {"data": {"LEVEL": "debug"}})
                await tab.until("document.querySelector('.source .value').innerText === 'debug'")
                [edit] = await tab.texts(".edit a")
                complaints = await tab.complaints()

    assert edit == "cm/settings LEVEL"
    assert complaints == []


async def test_a_report_shows_the_same_and_asks_nobody(browser: Browser, tmp_path: Path) -> None:
    made = shop()
    made.refresh(NOW)
    path = tmp_path / "report.html"
    path.write_text(report(made.document(NOW)))
    async with browser.tab(offline=True) as tab:
        await tab.do("goto", path.as_uri())
        await tab.until(READY)

        assert "deploy/edge" in await tab.texts(".pods h3")
        assert (await tab.texts("#connection"))[0].startswith("as it was at ")
        assert await tab.get("document.querySelectorAll('#lines path').length") > 0
        assert await tab.get("performance.getEntriesByType('resource').length") == 0
        assert await tab.complaints() == []
