"""Which users and groups of this machine pods may be.

Owns: how they are named (``5000-5999``, ``5001``, ``app``), that a range holds nobody who has a
name on this machine, and which group a user brings along.  Only computes, on accounts that are
handed in.  Must not know pods, nor where accounts are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from reflet.errors import ConfigurationError

USERS_FLAG: Final = "--allow-users"
GROUPS_FLAG: Final = "--allow-groups"
LARGEST_ID: Final = 2**32 - 2  # the next one means "no change" to the kernel
ROOT: Final = 0

_RANGE: Final = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")
_NUMBER: Final = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """What the machine knows: users by name, each with number and group, and groups by name."""

    users: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    groups: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedIds:
    """Numbers of users, or of groups, that pods may have.

    One that is in *taken* belongs to somebody of this machine and is in no range: only
    *named* gives it.
    """

    ranges: tuple[range, ...] = ()
    named: frozenset[int] = frozenset()
    taken: frozenset[int] = frozenset()

    def __contains__(self, number: int) -> bool:
        if number in self.named:
            return True
        return number not in self.taken and any(number in each for each in self.ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdGrants:
    """Whom pods may be besides the agent's own choice; *own_groups* are those of known users."""

    users: GrantedIds = field(default_factory=GrantedIds)
    groups: GrantedIds = field(default_factory=GrantedIds)
    own_groups: Mapping[int, int] = field(default_factory=dict)

    def group_of(self, user: int) -> int:
        """The group of a user that names none: its own of this machine, or the same number.

        Not one that all pods share: the folder of a pod is open to the group of its container,
        and users of their own are what keeps pods apart.
        """
        return self.own_groups.get(user, user)


NOBODY_ELSE: Final = IdGrants()


def grants_of(users: Iterable[str], groups: Iterable[str], accounts: Accounts) -> IdGrants:
    """Read what the flags name; ConfigurationError names the flag and the mistake.

    Whoever may be a user may have that user's group, too: the pod could run as that user.
    """
    known_users = {name: number for name, (number, _) in accounts.users.items()}
    user_ranges, named_users = _read(users, known_users, USERS_FLAG, "user")
    group_ranges, named_groups = _read(groups, accounts.groups, GROUPS_FLAG, "group")
    own_groups = {
        number: group
        for number, group in accounts.users.values()
        if number in named_users and group != ROOT
    }
    alone = tuple(range(each, each + 1) for each in sorted(named_users - own_groups.keys()))
    return IdGrants(
        users=GrantedIds(
            ranges=user_ranges, named=named_users, taken=frozenset(known_users.values())
        ),
        groups=GrantedIds(
            ranges=(*group_ranges, *user_ranges, *alone),
            named=named_groups | frozenset(own_groups.values()),
            taken=frozenset(accounts.groups.values()),
        ),
        own_groups=own_groups,
    )


def _read(
    texts: Iterable[str], known: Mapping[str, int], flag: str, kind: str
) -> tuple[tuple[range, ...], frozenset[int]]:
    ranges: list[range] = []
    named: set[int] = set()
    for text in texts:
        if (found := _RANGE.fullmatch(text)) is not None:
            ranges.append(_range(int(found[1]), int(found[2]), f"{flag} {text}"))
        elif _NUMBER.fullmatch(text):
            named.add(_checked(int(text), f"{flag} {text}"))
        elif text in known:
            named.add(_checked(known[text], f"{flag} {text}"))
        else:
            raise ConfigurationError(
                f"{flag}: {text!r} is neither a {kind} of this machine, nor a number, nor a range "
                "as 5000-5999"
            )
    return tuple(ranges), frozenset(named)


def _range(first: int, last: int, where: str) -> range:
    _checked(first, where)
    _checked(last, where)
    if first > last:
        raise ConfigurationError(f"{where}: the range ends before it begins")
    return range(first, last + 1)


def _checked(number: int, where: str) -> int:
    if number == ROOT:
        raise ConfigurationError(f"{where}: root, which is 0, is given by --user alone")
    if number > LARGEST_ID:
        raise ConfigurationError(f"{where}: the largest number is {LARGEST_ID}")
    return number
