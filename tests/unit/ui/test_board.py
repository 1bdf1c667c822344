"""From what is seen, in whatever order, to the document of the page and its changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from reflet.errors import Forbidden
from reflet.insight.page.page_document import PageChange
from reflet.ui.board import Board
from tests.page_scenes import NOON, NOW, OF_WEB, WHOLE, board, change, config_map, pod

SETTINGS, WEB = "ConfigMap/shop/settings", "Deployment/shop/web"
LATER = NOON + timedelta(hours=1)
INFO = config_map({"LEVEL": "info"})
DEBUG = config_map({"LEVEL": "debug"}, at=LATER, version="2", by="kubectl-edit")


def web(name: str = "web-7c9f-1", container: Any = WHOLE, **more: Any) -> Any:
    return pod(container, name, metadata=OF_WEB, **more)


def filled() -> Board:
    made = board(INFO, pods=(web(),), at=NOON - timedelta(hours=2))
    made.refresh(NOON)
    return made


def refreshed(made: Board) -> PageChange:
    found = made.refresh(NOW)
    assert found is not None
    return found


def document(made: Board) -> dict[str, Any]:
    made.refresh(NOW)
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(made.document(NOW)))
    return found


def states(made: Board) -> list[str]:
    arrivals = document(made)["workloads"][WEB]["arrivals"]
    return [link["state"] for each in arrivals for link in each["to"]]


def test_what_is_there_is_in_the_document() -> None:
    found = document(filled())

    assert found["sources"][SETTINGS]["keys"] == [{"name": "LEVEL", "size": 4, "text": "info"}]
    assert found["workloads"][WEB]["pods"][0]["count"] == 1


def test_nothing_new_is_no_change() -> None:
    assert filled().refresh(NOON + timedelta(seconds=1)) is None


def test_an_edit_changes_the_object_the_workload_and_the_list_of_edits() -> None:
    made = filled()

    change(made, INFO, DEBUG, at=LATER)

    found = msgspec.json.decode(msgspec.json.encode(refreshed(made)))
    assert found["sources"][SETTINGS]["by"] == "kubectl-edit"
    assert found["workloads"][WEB]["arrivals"][0]["to"][0]["state"] == "needs-restart"
    assert [edit["keys"] for edit in found["edits"]] == [["LEVEL"]]
    assert "notes" not in found


def test_a_change_that_no_pod_sees_is_none() -> None:
    made = filled()

    change(made, INFO, config_map({"LEVEL": "info"}, version="2"), at=LATER)

    assert made.refresh(LATER) is None


def test_a_restart_makes_it_current_again() -> None:
    made = filled()
    change(made, INFO, DEBUG, at=LATER)

    made.put_pod("shop/web-7c9f-1", made.brief_pod(web(started=LATER + timedelta(minutes=5))))

    assert states(made) == ["current"]


def test_a_pod_that_is_gone_takes_its_workload_along() -> None:
    made = filled()

    made.drop_pod("shop/web-7c9f-1")

    assert msgspec.json.decode(msgspec.json.encode(refreshed(made)))["workloads"] == {WEB: None}
    assert document(made)["sources"].keys() == {SETTINGS}


def test_an_object_that_a_pod_names_and_nobody_has_is_shown_as_missing() -> None:
    made = board(pods=(web(started=None),))

    assert document(made)["sources"][SETTINGS]["status"] == "missing"


def test_a_missing_object_that_comes_is_there() -> None:
    made = board(pods=(web(started=None),))
    made.refresh(NOON)

    change(made, None, INFO, at=LATER)

    assert "status" not in document(made)["sources"][SETTINGS]
    assert states(made) == ["current"]


def test_an_object_that_goes_and_nobody_names_leaves_nothing() -> None:
    made = board(INFO)
    made.refresh(NOON)

    change(made, INFO, None, at=LATER)

    assert document(made)["sources"] == {}
    assert not made._histories


def test_a_kind_that_may_not_be_read_is_not_known_and_noted() -> None:
    made = board(pods=(web(),))

    made.refuse("ConfigMap", "shop", Forbidden("configmaps is forbidden"))

    found = document(made)
    assert found["sources"][SETTINGS]["status"] == "unread"
    assert found["notes"] == ["ConfigMaps in shop cannot be read: configmaps is forbidden"]
    assert states(made) == ["unknown"]


def test_a_kind_that_may_be_read_after_all_is_as_any_other() -> None:
    made = board(pods=(web(started=None),))
    made.refuse("ConfigMap", "", Forbidden("no"))
    made.refresh(NOON)

    made.allow("ConfigMap", "")

    found = document(made)
    assert found["notes"] == []
    assert found["sources"][SETTINGS]["status"] == "missing"
    assert states(made) == ["missing"]


def test_a_file_is_on_its_way_for_a_while() -> None:
    mounted = {"volumeMounts": [{"name": "v", "mountPath": "/etc/shop"}]}
    volume = {"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}
    made = board(INFO, pods=(web(container=mounted, volumes=(volume,)),), at=NOON)
    made.refresh(NOON)
    change(made, INFO, DEBUG, at=LATER)

    def state(seconds: int) -> str:
        made.refresh(LATER + timedelta(seconds=seconds))
        return made.document(NOW).workloads[WEB].arrivals[0].to[0].state

    assert [state(seconds) for seconds in (1, 100, 130)] == ["on-its-way", "on-its-way", "current"]


def test_an_agent_that_writes_the_file_says_when_and_it_has_arrived() -> None:
    mounted = {"volumeMounts": [{"name": "v", "mountPath": "/etc/shop"}]}
    volume = {"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}
    item = web(container=mounted, volumes=(volume,))
    made = board(INFO, pods=(item,), at=NOON)
    made.refresh(NOON)
    change(made, INFO, DEBUG, at=LATER + timedelta(seconds=1))

    wrote = LATER + timedelta(seconds=1, milliseconds=9)
    made.delivered(item, ("ConfigMap", "shop", "settings"), "web-1/v", at=wrote)
    made.refresh(LATER + timedelta(seconds=2))

    found = made.document(NOW)
    assert found.workloads[WEB].arrivals[0].to[0].state == "current"
    assert found.edits[0].steps[2].text == "+9 ms web-1/v"


def test_a_note_replaces_the_one_before() -> None:
    made = board()
    made.note("server", "away")
    made.note("server", "still away")
    assert document(made)["notes"] == ["still away"]

    made.note("server", "")

    assert document(made)["notes"] == []


@pytest.mark.parametrize("key", ["<script>alert(1)</script>", "a\nb", "\u202e", '"><img src=x>'])
def test_names_that_mean_harm_are_only_names(key: str) -> None:
    item = config_map({key: key})
    made = board(item, pods=(web(),))

    assert document(made)["sources"][SETTINGS]["keys"][0]["name"] == key
