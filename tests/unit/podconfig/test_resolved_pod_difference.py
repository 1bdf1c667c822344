"""What is new between two results, by name and never by value."""

from __future__ import annotations

import pytest

from reflet.podconfig.resolved_pod import Difference, NameChanges, ResolvedPod, difference
from tests.unit.podconfig.scenes import result


def test_names_that_came_went_or_changed_are_told() -> None:
    found = difference(
        result({"A": "1", "B": "1", "C": "1"}, {"x": "1", "y": "1"}),
        result({"A": "2", "B": "1", "D": "1"}, {"y": "2", "z": "1"}),
    )

    assert found.variables == {"web": NameChanges(added=("D",), removed=("C",), changed=("A",))}
    assert found.files == {"files": NameChanges(added=("z",), removed=("x",), changed=("y",))}
    assert list(found.lines()) == ["container web: +D -C ~A", "volume files: +z -x ~y"]


def test_everything_is_new_when_there_was_nothing_before() -> None:
    assert list(difference(None, result({"A": "1"}, {"x": "1"})).lines()) == [
        "container web: +A",
        "volume files: +x",
    ]


@pytest.mark.parametrize(
    "after",
    [
        result({"A": "1"}, {"x": "1"}),
        result({"A": "1"}, {"x": "1"}, version="2"),
    ],
    ids=["equal", "another version of the object"],
)
def test_the_same_values_are_no_difference(after: ResolvedPod) -> None:
    found = difference(result({"A": "1"}, {"x": "1"}), after)

    assert (bool(found), found, list(found.lines())) == (False, Difference(), [])


@pytest.mark.parametrize(
    "after",
    [
        result(files={"x": "1"}, mode=0o600),
        result(files={"x": "1"}, group=7),
    ],
    ids=["mode", "group"],
)
def test_rights_are_a_difference(after: ResolvedPod) -> None:
    found = difference(result(files={"x": "1"}), after)

    assert found.files == {"files": NameChanges(changed=("x",))}


def test_an_error_hides_what_could_be_told() -> None:
    found = difference(
        result({"A": "1"}, {"x": "1"}),
        result({}, {}, error="no A", volume_error='secret "s" not found'),
    )

    assert (found.variables, found.files) == ({}, {})
    assert list(found.lines()) == ["container web: no A", 'volume files: secret "s" not found']


def test_the_same_error_is_no_difference_and_its_end_is_one() -> None:
    broken = result({"A": "1"}, error="no B")

    assert not difference(broken, result({"A": "2"}, error="no B"))
    assert list(difference(broken, result({"A": "1", "B": "1"})).lines()) == [
        "container web: +B",
        "container web: can be resolved again",
    ]


def test_a_container_or_volume_that_went_is_told() -> None:
    before = result({"A": "1"}, {"x": "1"})
    empty = ResolvedPod(pod=before.pod, environments={}, volumes={})

    assert list(difference(before, empty).lines()) == ["container web: -A", "volume files: -x"]


def test_values_are_shown_nowhere() -> None:
    found = difference(
        result({"A": "hunter1"}, {"x": "hunter1"}), result({"A": "hunter2"}, {"x": "hunter2"})
    )

    assert "hunter" not in f"{found!r} {list(found.lines())}"
