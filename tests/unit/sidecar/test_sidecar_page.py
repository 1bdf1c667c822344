"""The sidecar's page of itself: which key is which file, and when it was written."""

from __future__ import annotations

from pathlib import Path

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.insight.page.page_document import PageDocument
from reflet.sidecar.file_owners import Owner, OwnerTable
from reflet.sidecar.files.publishing import Unwritten
from reflet.sidecar.sidecar_page import SidecarPage
from reflet.sidecar.targets import SidecarObject, targets_of
from reflet.testing.virtual_time import ManualClock
from reflet.ui.agent_page import AgentPage
from tests.page_scenes import NOON
from tests.unit.sidecar.scenes import settings

A = Owner(0, "shop", "a", "configmap")
SETTINGS = settings(FOLDER="/etc/web")
WORKLOAD = "Sidecar//etc/web"


def config_map(**data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(namespace="shop", name="a"), data=data)


class Scene:
    """A sidecar whose disk is a table."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock(NOON)
        self._agent = AgentPage(
            "web", "sidecar", port=0, token_file=folder / "token", clock=self.clock
        )
        self._page = SidecarPage(self._agent, SETTINGS)
        self._table = OwnerTable()

    def take(self, found: SidecarObject | None, owner: Owner = A, took: float = 0.0) -> None:
        self._page.came(owner, found)
        contents = {} if found is None else targets_of(found, owner.kind, SETTINGS).contents
        paths = self._table.replace(owner, dict(contents))
        self.clock.advance(took)
        self._page.wrote(paths, self._table, {})

    def fail(self, path: str, why: str) -> None:
        self._page.wrote((), self._table, {path: Unwritten(why, is_own=False)})

    def document(self) -> PageDocument:
        self._agent._board.refresh(self.clock.now())
        return self._agent.document()


def test_every_file_has_its_key(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    scene.take(config_map(conf="1", log="2"))

    arrivals = scene.document().workloads[WORKLOAD].arrivals
    assert [(each.name, each.source, each.key) for each in arrivals] == [
        ("/etc/web/conf", "ConfigMap/shop/a", "conf"),
        ("/etc/web/log", "ConfigMap/shop/a", "log"),
    ]


def test_an_edit_has_the_time_at_which_its_file_was_written(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.take(config_map(conf="1"))

    scene.take(config_map(conf="2"), took=0.012)

    [edit] = scene.document().edits
    assert [(step.stage, step.text) for step in edit.steps][2] == ("file", "+12 ms /etc/web/conf")


def test_a_file_that_cannot_be_written_is_missing_and_said(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.take(config_map(conf="1"))

    scene.fail("/etc/web/conf", "no space left on device")

    workload = scene.document().workloads[WORKLOAD]
    assert workload.arrivals[0].to[0].state == "missing"
    assert workload.sentences[0].title == "/etc/web/conf cannot be written"


def test_an_object_that_is_gone_has_no_files(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.take(config_map(conf="1"))

    scene.take(None)

    assert scene.document().workloads[WORKLOAD].arrivals == ()
    assert scene.document().sources == {}


def test_no_value_of_a_secret_is_in_the_document(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    owner = Owner(0, "shop", "db", "secret")
    metadata = ObjectMeta(namespace="shop", name="db")

    scene.take(Secret(metadata=metadata, data={"password": b"hush-hush"}), owner)

    document = scene.document()
    assert document.sources["Secret/shop/db"].keys[0].size == 9
    assert "hush" not in repr(document)
