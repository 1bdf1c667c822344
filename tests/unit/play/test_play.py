from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.play.play import NAMES, Play


def test_names_come_with_what_they_need() -> None:
    assert Play.parse(" pods, deployments").names == {"nodes", "pods", "replicasets", "deployments"}


def test_all_is_everything() -> None:
    assert Play("all").names == set(NAMES)


def test_a_name_that_nobody_plays_is_told_with_the_possible_ones() -> None:
    with pytest.raises(ConfigurationError, match="nobody can play 'pod': expected nodes, pods, "):
        Play.parse("deployments,pod")


def test_the_server_is_told_what_it_need_not_do() -> None:
    quiet, busy = Play("pods"), Play("garbage", "namespaces")

    assert (quiet.collects_garbage, quiet.ends_namespaces) == (False, False)
    assert (busy.collects_garbage, busy.ends_namespaces) == (True, True)
