"""In the child of a fork nothing hangs, and nothing shows values that nobody keeps fresh."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.unit.blocking import fork_scenes

REFUSED = re.compile(
    r"MisuseError: (the loop|reflet https://scripted) was opened in process (\d+), before a fork, "
    r"and does not run in this one, (?!\2)\d+: open it in the worker itself "
    r"\(gunicorn: post_fork or post_worker_init\)"
)
ASK_NOBODY = {
    "BlockingResource.resource",
    "BlockingCluster.namespace",
    "BlockingCluster.resource",
    "BlockingCluster.close",
    "BlockingMirror.is_live",
    "BlockingMirror.__repr__",
    "BlockingManager.__repr__",
}


@pytest.fixture(scope="module")
def said() -> tuple[dict[str, str], dict[str, Any]]:
    """What came of every name in the child, and what the parent says afterwards."""
    in_child, afterwards = fork_scenes.said_by(fork_scenes.everything_is_used_in_the_child)
    return in_child, afterwards


def test_everything_that_reads_or_asks_says_where_to_open_it(
    said: tuple[dict[str, str], dict[str, Any]],
) -> None:
    in_child, _ = said

    answered = {name for name, text in in_child.items() if not REFUSED.fullmatch(text)}

    assert answered == ASK_NOBODY


def test_a_mirror_is_not_live(said: tuple[dict[str, str], dict[str, Any]]) -> None:
    in_child, _ = said

    assert in_child["BlockingMirror.is_live"] == "False"


def test_a_repr_says_what_happened(said: tuple[dict[str, str], dict[str, Any]]) -> None:
    in_child, _ = said

    assert in_child["BlockingMirror.__repr__"].strip("\"'") == (
        "<BlockingMirror configmaps in shop, 1 objects at '1', left behind by a fork>"
    )
    assert in_child["BlockingManager.__repr__"].strip("\"'") == (
        "<BlockingConfigMapManager watch, 1 pods, 1 streams, left behind by a fork>"
    )


def test_the_child_leaves_its_blocks_and_the_parent_goes_on(
    said: tuple[dict[str, str], dict[str, Any]],
) -> None:
    _, afterwards = said

    assert afterwards == {"exit code": 0, "parent": ["a", "True", "a", "settings"]}


def test_a_child_ends_though_it_has_lost_a_busy_handler() -> None:
    scene = fork_scenes.a_worker_ends_as_the_documentation_opens_it

    assert fork_scenes.said_by(scene) == [{"exit code": 0, "parent": "a"}]


def test_a_child_of_multiprocessing_is_told_and_ends() -> None:
    refusal, end = fork_scenes.said_by(fork_scenes.a_process_of_multiprocessing)

    assert REFUSED.fullmatch(refusal)
    assert end == {"exit code": 0}


def test_what_is_opened_in_the_child_works_and_its_own_child_is_told() -> None:
    said = fork_scenes.said_by(fork_scenes.the_child_opens_its_own_and_forks_again)

    assert said[:2] == ["a", "True"]
    assert [bool(REFUSED.fullmatch(text)) for text in said[2:]] == [True, True]


def test_a_connection_refuses_a_child_that_has_the_loop_of_its_parent() -> None:
    refusal, in_parent = fork_scenes.said_by(fork_scenes.a_loop_goes_on_in_the_child)

    assert re.fullmatch(
        r"MisuseError: http://\S+: this connection was opened in process \d+, before a fork, and "
        r"cannot be used in this one, \d+: connect in each process",
        refusal,
    )
    assert in_parent == "ok"
