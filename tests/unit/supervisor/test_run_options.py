"""When a process that ended by itself is started again."""

from __future__ import annotations

import pytest

from reflet.processes.exit_status import Ending, Exited, Killed
from reflet.supervisor.run_options import RestartPolicy, RunOptions


@pytest.mark.parametrize(
    ("policy", "ending", "wants"),
    [
        ("never", Exited(0), False),
        ("never", Killed(9), False),
        ("on-failure", Exited(0), False),
        ("on-failure", Exited(1), True),
        ("on-failure", Killed(15), True),
        ("always", Exited(0), True),
    ],
)
def test_a_policy_wants_another_life_or_not(policy: str, ending: Ending, wants: bool) -> None:
    assert RestartPolicy(policy).wants_another(ending) is wants


def test_nothing_that_may_be_secret_is_shown() -> None:
    options = RunOptions(command=["echo", "hunter2"], local={"PASSWORD": "hunter2"})

    assert "hunter2" not in repr(options)
