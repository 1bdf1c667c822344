"""What is new, in words without values, and what is done about it."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.supervisor.configuration_changes import (
    FilesOnChange,
    OnChange,
    Outfit,
    OutfitChange,
    Reaction,
    RestartOnChange,
    SignalOnChange,
    changed_files,
    described,
    fixed_parts,
    outfit_change,
    parse_on_change,
    reaction_to,
)
from reflet.supervisor.mount_tree import MountPlan, plan_mounts
from tests.unit.supervisor.scenes import config_map, pod, resolved

VOLUME = {"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}}
LIVE = {"name": "settings", "mountPath": "/etc/app"}
FIXED = {"name": "settings", "mountPath": "/etc/one", "subPath": "one"}


def outfit(environment: dict[str, str] | None = None, command: tuple[str, ...] = ("a",)) -> Outfit:
    return Outfit(command, environment or {}, MountPlan(), {})


def files_of(mount: dict[str, Any], *, before: dict[str, str], after: dict[str, str]) -> Any:
    subject = pod({"volumeMounts": [mount]}, [VOLUME])
    plan = plan_mounts(subject, "main", {})
    old = resolved(subject, config_map("settings", **before)).volumes
    new = resolved(subject, config_map("settings", **after)).volumes
    change = outfit_change(
        Outfit((), {}, plan, fixed_parts(plan, old)), Outfit((), {}, plan, fixed_parts(plan, new))
    )
    return change, changed_files(plan, old, new)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("restart", RestartOnChange()),
        ("none", FilesOnChange()),
        ("signal:HUP", SignalOnChange(signal.SIGHUP)),
        ("signal:sigusr1", SignalOnChange(signal.SIGUSR1)),
    ],
)
def test_a_rule_is_read(text: str, rule: OnChange) -> None:
    assert parse_on_change(text) == rule


@pytest.mark.parametrize("rule", ["restart", "none", "signal:HUP"])
def test_a_rule_is_written_as_it_is_read(rule: str) -> None:
    assert str(parse_on_change(rule)) == rule


@pytest.mark.parametrize("text", ["", "signal", "signal:", "signal:X", "restart:HUP", "none:1"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--on-change: "):
        parse_on_change(text)


def test_variables_that_came_went_or_changed_are_named_and_never_shown() -> None:
    before = outfit({"SAME": "1", "GONE": "hunter2", "OTHER": "hunter2"})
    now = outfit({"SAME": "1", "NEW": "hunter3", "OTHER": "hunter3"})

    change = outfit_change(before, now)

    assert described(change, ()) == "variables GONE, NEW and OTHER"
    assert "hunter" not in repr((before, now, change))


def test_the_same_values_are_no_change() -> None:
    assert not outfit_change(outfit({"A": "1"}), outfit({"A": "1"}))


def test_a_new_command_is_a_change() -> None:
    assert described(outfit_change(outfit(), outfit(command=("b",))), ()) == "the command"


def test_files_that_a_running_process_sees_are_told_by_their_paths() -> None:
    change, files = files_of(
        LIVE, before={"a": "1", "b": "1", "c": "1"}, after={"a": "2", "b": "1"}
    )

    assert not change
    assert files == ("/etc/app/a", "/etc/app/c")


def test_files_that_it_got_at_its_start_are_part_of_its_outfit() -> None:
    change, files = files_of(FIXED, before={"one": "1"}, after={"one": "2"})

    assert described(change, files) == "file /etc/one"
    assert files == ()


def test_a_key_beside_the_sub_path_is_no_change() -> None:
    change, files = files_of(FIXED, before={"one": "1"}, after={"one": "1", "two": "2"})

    assert (bool(change), files) == (False, ())


def test_many_names_are_cut_short() -> None:
    names = tuple(f"V{number}" for number in range(9))

    assert described(OutfitChange(variables=names), ()) == (
        "variables V0, V1, V2, V3, V4, V5 and 3 more"
    )


NEW_OUTFIT = OutfitChange(variables=("A",))
SAME_OUTFIT = OutfitChange()
HANG_UP = SignalOnChange(signal.SIGHUP)


@pytest.mark.parametrize(
    ("rule", "change", "files", "reaction"),
    [
        (RestartOnChange(), SAME_OUTFIT, (), Reaction.NOTHING),
        (RestartOnChange(), SAME_OUTFIT, ("/a",), Reaction.TELL),
        (RestartOnChange(), NEW_OUTFIT, (), Reaction.RESTART),
        (RestartOnChange(), NEW_OUTFIT, ("/a",), Reaction.RESTART),
        (HANG_UP, SAME_OUTFIT, (), Reaction.NOTHING),
        (HANG_UP, SAME_OUTFIT, ("/a",), Reaction.SIGNAL),
        (HANG_UP, NEW_OUTFIT, (), Reaction.SIGNAL),
        (FilesOnChange(), SAME_OUTFIT, (), Reaction.NOTHING),
        (FilesOnChange(), SAME_OUTFIT, ("/a",), Reaction.TELL),
        (FilesOnChange(), NEW_OUTFIT, (), Reaction.TELL),
    ],
)
def test_what_is_done_follows_the_rule(
    rule: OnChange, change: OutfitChange, files: tuple[str, ...], reaction: Reaction
) -> None:
    assert reaction_to(rule, change, files) is reaction
