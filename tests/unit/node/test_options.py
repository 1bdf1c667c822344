from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.node.options import NodeOptions, read_accounts, usual_root
from reflet.node.pods.admission import Accounts, RunAs, grants_of

OPTIONS = NodeOptions(name="n", root=Path("/srv"))


def test_pods_come_from_the_server_or_a_folder() -> None:
    assert OPTIONS.folder is None
    assert NodeOptions(name="n", root=Path("/srv"), pods_from="/pods").folder == Path("/pods")


def test_root_has_to_say_whom_containers_run_as(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    silent = NodeOptions(name="n", root=Path("/srv"), run=True)
    clear = NodeOptions(name="n", root=Path("/srv"), run=True, user=RunAs(0, 0))

    with pytest.raises(ConfigurationError, match="name the user for containers with --user"):
        silent.allowance()
    assert clear.allowance().gives_root
    assert OPTIONS.allowance().is_root


@pytest.mark.parametrize(("user", "run"), [(0, False), (1000, True)])
def test_who_starts_nothing_or_is_not_root_need_not_say(
    user: int, run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)

    assert NodeOptions(name="n", root=Path("/srv"), run=run).allowance().default == RunAs()


def test_root_gives_containers_whom_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    told = NodeOptions(name="n", root=Path("/srv"), run=True, user=RunAs(65534, 65534))

    assert told.allowance().default == RunAs(65534, 65534)


def test_what_is_allowed_reaches_the_pods() -> None:
    allowed = NodeOptions(
        name="n", root=Path("/srv"), namespaces=frozenset({"shop"}), host_paths=("/data",)
    ).allowance()

    assert (allowed.namespaces, allowed.host_paths) == (frozenset({"shop"}), ("/data",))


def test_nothing_is_run_unless_it_is_said() -> None:
    assert (OPTIONS.run, OPTIONS.keep_running, OPTIONS.register) == (False, False, True)


def test_others_can_only_be_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getegid", lambda: 1000)
    other = NodeOptions(name="n", root=Path("/srv"), run=True, user=RunAs(1001, 1001))
    same = NodeOptions(name="n", root=Path("/srv"), run=True, user=RunAs(1000, 1000))

    with pytest.raises(ConfigurationError, match="only root may become another user"):
        other.allowance()
    assert same.allowance().default == RunAs()


def test_a_group_that_cannot_be_given_is_refused_and_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getegid", lambda: 1000)
    other = NodeOptions(name="n", root=Path("/srv"), run=True, user=RunAs(1000, 1001))

    with pytest.raises(ConfigurationError, match="only root may become another group"):
        other.allowance()


def test_whom_root_may_give_besides_reaches_the_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    grants = grants_of(["5000-5999"], ["6000"], Accounts())
    told = NodeOptions(
        name="n", root=Path("/srv"), run=True, user=RunAs(65534, 65534), grants=grants
    )

    assert told.allowance().grants is grants


@pytest.mark.parametrize(
    ("users", "groups", "flag"),
    [(["5000"], [], "--allow-users"), ([], ["5000-5001"], "--allow-groups")],
)
def test_others_than_root_give_nobody_else(
    users: list[str], groups: list[str], flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    grants = grants_of(users, groups, Accounts())

    with pytest.raises(ConfigurationError, match=f"^{flag}: only root .* this is user 1000"):
        NodeOptions(name="n", root=Path("/srv"), grants=grants).allowance()


def test_the_accounts_are_those_of_this_machine() -> None:
    accounts = read_accounts(["root", "nobody-of-this-name"], ["root", "nobody-of-this-name"])

    assert accounts.users["root"] == (0, 0)
    assert accounts.groups["root"] == 0
    assert "nobody-of-this-name" not in {*accounts.users, *accounts.groups}


@pytest.mark.parametrize(
    ("user", "environment", "root"),
    [
        (0, {}, "/var/lib/reflet"),
        (1000, {"HOME": "/home/a"}, "/home/a/.local/state/reflet"),
        (1000, {"HOME": "/home/a", "XDG_STATE_HOME": "/state"}, "/state/reflet"),
        (1000, {"HOME": "/home/a", "XDG_STATE_HOME": "not/rooted"}, "/home/a/.local/state/reflet"),
        (0, {"HOME": "/root", "XDG_STATE_HOME": "/state"}, "/var/lib/reflet"),
    ],
)
def test_everything_is_kept_where_it_belongs(
    user: int, environment: dict[str, str], root: str
) -> None:
    assert usual_root(user, environment) == Path(root)


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_a_user_without_a_home_has_to_say_where(home: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="--root"):
        usual_root(1000, home)
