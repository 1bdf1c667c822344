"""How far an edit has come, and that nothing is said which nobody knows."""

from __future__ import annotations

import pytest
from msgspec import structs

from reflet.insight.page.page_document import (
    PageArrival,
    PageLink,
    PageState,
    PageWorkload,
    PodGroup,
    Way,
)
from reflet.insight.page.page_edits import (
    NOT_KNOWN,
    OVER,
    DeliveryTime,
    SeenEdit,
    edit_of,
    edit_page,
    took,
)
from reflet.insight.stale.object_history import KeyChange
from tests.page_scenes import NOON

SOURCE = "ConfigMap/shop/settings"
EDIT = SeenEdit(at=NOON, source=SOURCE, keys=("a",), by="kubectl-edit", cached=3.4)


def workload(*lines: tuple[Way, PageState], key: str = "a") -> PageWorkload:
    arrivals = tuple(
        PageArrival(
            way=way,
            name=f"line {number}",
            source=SOURCE,
            key=key,
            to=(PageLink(pods=0, container="web", state=state),),
        )
        for number, (way, state) in enumerate(lines)
    )
    group = PodGroup(names=("web-1",), count=14, phase="Running", containers=())
    return PageWorkload(
        kind="Deployment",
        namespace="shop",
        name="web",
        pods=(group,),
        arrivals=arrivals,
        sentences=(),
    )


def steps(edit: SeenEdit, *workloads: PageWorkload) -> list[tuple[str, str, str]]:
    page = edit_page(edit, workloads)
    return [(step.stage, step.state, step.text) for step in page.steps]


def test_event_and_cache_have_their_measured_times() -> None:
    assert steps(EDIT)[:2] == [
        ("event", "current", ""),
        ("cache", "current", "+3 ms"),
    ]


def test_of_a_kubelet_nobody_knows_when_it_writes() -> None:
    assert steps(EDIT, workload(("file", "on-its-way")))[2] == ("file", "on-its-way", NOT_KNOWN)
    assert steps(EDIT, workload(("file", "current")))[2] == ("file", "current", OVER)


def test_an_agent_that_writes_files_itself_says_when() -> None:
    delivered = DeliveryTime(what="web-1/settings", milliseconds=11.2)
    edit = structs.replace(EDIT, files=(delivered,))

    assert steps(edit, workload(("file", "current")))[2] == (
        "file",
        "current",
        "+11 ms web-1/settings",
    )


def test_of_many_deliveries_the_quickest_and_the_slowest_are_shown() -> None:
    files = tuple(DeliveryTime(what="x", milliseconds=time) for time in (4.0, 9.0, 1500.0))

    assert steps(structs.replace(EDIT, files=files))[2][2] == "+4 ms to +1.5 s, 3 of them"


def test_processes_that_keep_the_old_value_are_counted() -> None:
    stale = workload(("variable", "needs-restart"), ("subPath", "needs-restart"))
    other = structs.replace(workload(("variable", "current")), name="other")

    assert steps(EDIT, stale, other)[-1] == (
        "process",
        "needs-restart",
        "14 of 28 containers not reached",
    )


def test_processes_that_were_started_since_have_it() -> None:
    assert steps(EDIT, workload(("variable", "current")))[-1][2] == "started since"


def test_lines_of_other_keys_do_not_count() -> None:
    page = workload(("variable", "needs-restart"), key="b")

    assert steps(EDIT, page)[-1] == ("process", "current", "no process has it from its start")


def test_an_edit_names_its_keys_and_who_made_it() -> None:
    changes = [
        KeyChange(at=NOON, since=NOON, key="a", by="vault"),
        KeyChange(at=NOON, since=NOON, key="b"),
    ]

    edit = edit_of(SOURCE, changes, at=NOON, cached=1.0)

    assert (edit.keys, edit.by) == (("a", "b"), "vault")


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0.2, "+<1 ms"), (12.0, "+12 ms"), (2345.0, "+2.3 s")]
)
def test_durations(milliseconds: float, text: str) -> None:
    assert took(milliseconds) == text
