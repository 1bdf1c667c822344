"""The page of a program that delivers configuration itself."""

from __future__ import annotations

import stat
from pathlib import Path

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.insight.page.page_document import PageDocument
from reflet.testing.virtual_time import ManualClock
from reflet.ui.agent_page import AgentPage
from tests.page_scenes import NOON, OF_WEB, pod

MOUNTED = {
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "volumeMounts": [{"name": "v", "mountPath": "/etc/shop"}],
}
VOLUME = {"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}
WEB = "Deployment/shop/web"


def settings(level: str) -> ConfigMap:
    metadata = ObjectMeta(namespace="shop", name="settings")
    return ConfigMap(metadata=metadata, data={"LEVEL": level})


class Scene:
    """An agent that has started a pod just now."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(NOON)
        self.pod = pod(
            MOUNTED,
            volumes=(VOLUME,),
            metadata={**OF_WEB, "creationTimestamp": NOON.isoformat()},
        )
        self.page = AgentPage(
            "worker-1", "node", port=0, token_file=folder / "token", clock=self.clock
        )
        self.put("info")
        self.page.put_pod(self.pod)

    def put(self, level: str) -> None:
        self.page.put_object("ConfigMap", "shop", "settings", settings(level))

    def document(self) -> PageDocument:
        self.page._board.refresh(self.clock.now())
        return self.page.document()

    def states(self) -> dict[str, str]:
        arrivals = self.document().workloads[WEB].arrivals
        return {each.name: each.to[0].state for each in arrivals}


def test_what_the_agent_gave_a_container_is_current(tmp_path: Path) -> None:
    assert Scene(tmp_path).states() == {"LEVEL": "current", "/etc/shop/LEVEL": "current"}


def test_an_edit_is_on_its_way_until_the_agent_has_written_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.clock.advance(60)
    scene.put("debug")
    before = scene.states()

    scene.clock.advance(0.009)
    scene.page.delivered(scene.pod, frozenset({"v"}))

    assert before == {"LEVEL": "needs-restart", "/etc/shop/LEVEL": "on-its-way"}
    assert scene.states() == {"LEVEL": "needs-restart", "/etc/shop/LEVEL": "current"}
    assert [step.text for step in scene.document().edits[0].steps] == [
        "",
        "in memory",
        "+9 ms web-7c9f-1/v",
        "1 of 1 container not reached",
    ]


def test_an_object_that_goes_is_missing(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.states()

    scene.page.put_object("ConfigMap", "shop", "settings", None)

    assert scene.document().sources["ConfigMap/shop/settings"].status == "missing"


def test_a_pod_that_goes_is_not_shown(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    scene.page.drop_pod(scene.pod)

    assert scene.document().workloads == {}


async def test_the_token_is_in_a_private_file_for_as_long_as_the_page_is_there(
    tmp_path: Path,
) -> None:
    page = Scene(tmp_path).page
    async with page:
        token = page.token_file.read_text().strip()
        mode = stat.S_IMODE(page.token_file.stat().st_mode)

    assert mode == 0o600
    assert len(token) >= 32
    assert token not in page.url
    assert not page.token_file.exists()
