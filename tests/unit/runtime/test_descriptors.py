from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from reflet.runtime.descriptors import descriptor_limit

RAISED = """
import resource
from reflet.runtime.descriptors import raise_descriptor_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 300))
print(raise_descriptor_limit({most}), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("most", "limits"),
    [("", [300, 300, 300]), ("200", [200, 200, 300]), ("50", [100, 100, 300])],
)
def test_the_limit_is_raised_as_far_as_the_system_lets_and_never_lowered(
    most: str, limits: list[int]
) -> None:
    said = subprocess.run(
        [sys.executable, "-c", RAISED.format(most=most)], check=True, capture_output=True, text=True
    )

    assert [int(each) for each in said.stdout.split()] == limits


def test_the_limit_of_another_process_can_be_asked_for() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (77, 88))
        found = descriptor_limit(child.pid)
        assert child.stdin is not None
        child.stdin.close()
        child.wait()

    assert found == 77
    assert descriptor_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
