from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.node.pods.admission import Accounts, GrantedIds, IdGrants, grants_of

ACCOUNTS = Accounts(
    users={"root": (0, 0), "app": (5005, 300), "operator": (11, 0), "www-data": (33, 33)},
    groups={"root": 0, "shadow": 42, "www-data": 33, "shared": 300, "docker": 5007},
)


def granted(*users: str, groups: tuple[str, ...] = ()) -> IdGrants:
    return grants_of(users, groups, ACCOUNTS)


def test_nothing_is_granted_unless_it_is_said() -> None:
    nothing = granted()

    assert not any(number in nothing.users for number in range(100_000))
    assert not any(number in nothing.groups for number in range(100_000))


@pytest.mark.parametrize(
    ("number", "is_granted"), [(4999, False), (5000, True), (5999, True), (6000, False)]
)
def test_a_range_has_both_of_its_ends(number: int, is_granted: bool) -> None:
    grants = granted("5000-5999", groups=("5000-5999",))

    assert (number in grants.users, number in grants.groups) == (is_granted, is_granted)


def test_no_range_holds_whom_the_machine_knows() -> None:
    grants = granted("1-9999", groups=("1-9999",))

    assert not any(number in grants.users for number in (0, 11, 33, 5005))
    assert not any(number in grants.groups for number in (0, 33, 42, 300, 5007))


@pytest.mark.parametrize("named", ["app", "5005"])
def test_whom_the_machine_knows_is_granted_by_name_or_number(named: str) -> None:
    grants = granted("5000-5999", named)

    assert 5005 in grants.users
    assert grants.group_of(5005) == 300
    assert 300 in grants.groups


def test_a_name_may_look_like_a_range() -> None:
    assert 33 in granted("www-data").users


@pytest.mark.parametrize(("named", "number"), [("shadow", 42), ("42", 42), ("docker", 5007)])
def test_a_group_of_the_machine_is_granted_by_name_or_number(named: str, number: int) -> None:
    grants = granted(groups=(named,))

    assert number in grants.groups
    assert number not in grants.users


@pytest.mark.parametrize("said", ["5000-5999", "5001"])
def test_a_user_brings_the_group_of_the_same_number_that_nobody_has(said: str) -> None:
    grants = granted(said)

    assert grants.group_of(5001) == 5001
    assert 5001 in grants.groups


@pytest.mark.parametrize("said", ["5000-5999", "5007"])
def test_a_user_does_not_bring_a_group_that_the_machine_has(said: str) -> None:
    grants = granted(said)

    assert 5007 in grants.users
    assert 5007 not in grants.groups


def test_nobody_brings_the_group_of_root() -> None:
    grants = granted("operator")

    assert grants.group_of(11) == 11
    assert 0 not in grants.groups


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("0", "root, which is 0, is given by --user alone"),
        ("root", "root, which is 0, is given by --user alone"),
        ("0-100", "root, which is 0, is given by --user alone"),
        ("9-5", "the range ends before it begins"),
        ("4294967295", "the largest number is 4294967294"),
        ("1-4294967295", "the largest number is 4294967294"),
        ("nobody-else", "'nobody-else' is neither a"),
        ("1-2-3", "'1-2-3' is neither a"),
        ("1000-", "'1000-' is neither a"),
        ("-5", "'-5' is neither a"),
        ("", "'' is neither a"),
        ("5_000", "'5_000' is neither a"),
        ("\u0665", "is neither a"),
    ],
)
def test_what_cannot_be_granted_is_told_with_its_flag(said: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^--allow-users.*{words}"):
        granted(said)
    with pytest.raises(ConfigurationError, match=f"^--allow-groups.*{words}"):
        granted(groups=(said,))


def test_ids_know_what_is_in_them() -> None:
    ids = GrantedIds(ranges=(range(5, 8),), named=frozenset({6, 9}), taken=frozenset({6, 7}))

    assert [number for number in range(12) if number in ids] == [5, 6, 9]
