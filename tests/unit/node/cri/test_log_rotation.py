from __future__ import annotations

from pathlib import Path

from reflet.cri.messages.containers import Container, ContainerState
from reflet.node.cri.agents_pods import OwnedPods
from reflet.node.cri.log_rotation import LogRotation
from reflet.node.cri.runtime_labels import NODE
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.cri.paper_cri import PaperCri


def rotation(cri: PaperCri, log: Path) -> LogRotation:
    cri.containers["c"] = Container(id="c", state=ContainerState.RUNNING, labels={NODE: "worker-1"})
    cri.log_paths["c"] = str(log)
    owned = OwnedPods(cri.runtime, "worker-1")
    return LogRotation(owned, clock=VirtualClock(), largest=10, most=3)


async def test_a_long_log_is_turned_over_and_the_runtime_goes_on_in_a_new_one(
    tmp_path: Path,
) -> None:
    cri, log = PaperCri(), tmp_path / "0.log"
    rotating = rotation(cri, log)
    for text in ("first text", "second one", "third text", "fourth one"):
        log.write_text(text)
        await rotating.rotate()

    assert cri.asked.count("reopen c") == 4
    assert not log.exists()
    kept = [(tmp_path / f"0.log.{number}").read_text() for number in (1, 2)]
    assert kept == ["fourth one", "third text"]
    assert len([*tmp_path.iterdir()]) == 2


async def test_a_short_log_stays_and_a_missing_one_is_opened_again(tmp_path: Path) -> None:
    cri, log = PaperCri(), tmp_path / "0.log"
    rotating = rotation(cri, log)

    await rotating.rotate()
    log.write_text("short")
    await rotating.rotate()

    assert cri.asked.count("reopen c") == 1
    assert log.read_text() == "short"


async def test_a_container_that_is_removed_meanwhile_keeps_no_other_log_from_its_turn(
    tmp_path: Path,
) -> None:
    cri, log = PaperCri(), tmp_path / "0.log"
    cri.containers["gone"] = Container(
        id="gone", state=ContainerState.RUNNING, labels={NODE: "worker-1"}
    )
    cri.vanished.add("gone")
    rotating = rotation(cri, log)
    log.write_text("a long text")

    await rotating.rotate()

    assert cri.asked.count("reopen c") == 1
