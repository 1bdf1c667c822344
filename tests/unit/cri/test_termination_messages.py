from __future__ import annotations

from pathlib import Path

import pytest

from reflet.cri.messages.containers import ContainerState, ContainerStatus, Mount
from reflet.cri.termination_messages import (
    FALL_BACK,
    MESSAGE_PATH_ANNOTATION,
    MESSAGE_POLICY_ANNOTATION,
    termination_message,
)

INSIDE = "/dev/termination-log"


def ended(
    folder: Path,
    *,
    policy: str = "File",
    code: int = 1,
    reason: str = "Error",
    state: ContainerState = ContainerState.EXITED,
) -> ContainerStatus:
    return ContainerStatus(
        id="c",
        state=state,
        exit_code=code,
        reason=reason,
        annotations={MESSAGE_PATH_ANNOTATION: INSIDE, MESSAGE_POLICY_ANNOTATION: policy},
        mounts=(
            Mount(container_path="/data", host_path=str(folder)),
            Mount(container_path=INSIDE, host_path=str(folder / "message")),
        ),
        log_path=str(folder / "0.log"),
    )


def log(folder: Path, *lines: str) -> None:
    (folder / "0.log").write_text("".join(f"2026-01-01T00:00:00Z {line}\n" for line in lines))


def test_it_is_what_the_container_wrote(tmp_path: Path) -> None:
    (tmp_path / "message").write_text("disk full")

    assert termination_message(ended(tmp_path, code=0)) == "disk full"


def test_only_the_end_of_a_long_one_is_kept(tmp_path: Path) -> None:
    (tmp_path / "message").write_text("a" * 10 + "b" * 4096)

    assert termination_message(ended(tmp_path)) == "b" * 4096


def test_a_container_that_runs_has_none(tmp_path: Path) -> None:
    (tmp_path / "message").write_text("so far so good")

    assert termination_message(ended(tmp_path, state=ContainerState.RUNNING)) == ""


def test_one_that_wrote_none_has_none(tmp_path: Path) -> None:
    log(tmp_path, "stdout F not asked for")

    assert termination_message(ended(tmp_path)) == ""


def test_a_failure_without_one_ends_with_its_log(tmp_path: Path) -> None:
    log(tmp_path, "stdout F one", "stderr P two, ", "stderr F three")

    assert termination_message(ended(tmp_path, policy=FALL_BACK)) == "one\ntwo, three\n"


def test_an_empty_one_falls_back_too(tmp_path: Path) -> None:
    (tmp_path / "message").touch()
    log(tmp_path, "stdout F said")

    assert termination_message(ended(tmp_path, policy=FALL_BACK)) == "said\n"


@pytest.mark.parametrize(("code", "reason"), [(0, "Completed"), (128, "ContainerCannotRun")])
def test_success_and_what_never_ran_do_not_fall_back(
    tmp_path: Path, code: int, reason: str
) -> None:
    log(tmp_path, "stdout F said")

    status = ended(tmp_path, policy=FALL_BACK, code=code, reason=reason)

    assert termination_message(status) == ""


def test_of_a_log_only_the_end_is_kept(tmp_path: Path) -> None:
    log(tmp_path, *(f"stdout F {number:03} {'x' * 40}" for number in range(100)))

    message = termination_message(ended(tmp_path, policy=FALL_BACK))

    assert len(message) == 2048
    assert message.endswith(f"099 {'x' * 40}\n")


def test_and_no_more_than_eighty_lines(tmp_path: Path) -> None:
    log(tmp_path, *(f"stdout F {number:03}" for number in range(100)))

    message = termination_message(ended(tmp_path, policy=FALL_BACK))

    assert message.splitlines() == [f"{number:03}" for number in range(20, 100)]


def test_a_log_that_is_gone_says_nothing(tmp_path: Path) -> None:
    assert termination_message(ended(tmp_path, policy=FALL_BACK)) == ""


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "message").mkdir()

    assert termination_message(ended(tmp_path)) == (
        f"Error on reading termination log {tmp_path}/message: Is a directory"
    )
