"""Whom the headers of a request name."""

from __future__ import annotations

import pytest

from reflet.devserver.request.impersonation import impersonated
from reflet.errors import BadRequest

ACCOUNT = "system:serviceaccount:shop:robot"


def groups_of(name: str, *groups: str) -> tuple[str, ...]:
    asked = [("Impersonate-Group", group) for group in groups]
    user = impersonated([("Impersonate-User", name), *asked])
    assert user is not None
    assert user.name == name
    return user.groups


@pytest.mark.parametrize(
    ("name", "groups", "found"),
    [
        ("jane", (), ("system:authenticated",)),
        ("jane", ("dev", "ops"), ("dev", "ops", "system:authenticated")),
        ("jane", ("system:authenticated", "dev"), ("system:authenticated", "dev")),
        ("jane", ("system:unauthenticated",), ("system:unauthenticated",)),
        ("system:anonymous", (), ("system:unauthenticated",)),
        (
            ACCOUNT,
            (),
            ("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"),
        ),
        (ACCOUNT, ("dev",), ("dev", "system:authenticated")),
        ("system:serviceaccount:Shop:robot", (), ("system:authenticated",)),
        ("system:node:a", (), ("system:nodes", "system:authenticated")),
        ("system:node:a", ("dev",), ("dev", "system:authenticated")),
        ("system:node:A/b", (), ("system:authenticated",)),
    ],
)
def test_a_user_is_in_the_groups_that_are_asked_for_and_in_those_of_its_kind(
    name: str, groups: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert groups_of(name, *groups) == found


def test_a_node_with_a_uid_is_in_no_group_that_nobody_asked_for() -> None:
    user = impersonated([("Impersonate-User", "system:node:a"), ("Impersonate-Uid", "7")])

    assert user is not None
    assert (user.uid, user.groups) == ("7", ("system:authenticated",))


def test_extra_values_are_shown_by_their_keys() -> None:
    user = impersonated(
        [
            ("Impersonate-User", "jane"),
            ("Impersonate-Extra-Scopes", "view"),
            ("impersonate-extra-scopes", "edit"),
            ("Impersonate-Extra-Acme.com%2fproject", "alpha"),
        ]
    )

    assert user is not None
    extra = user.document()["extra"]
    assert extra == {"scopes": ["view", "edit"], "acme.com/project": ["alpha"]}


def test_what_is_not_utf_8_in_a_name_can_be_told() -> None:
    user = impersonated([("Impersonate-User", "j\udcff")])

    assert user is not None
    assert user.name == "j\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("headers", [[], [("Impersonate-User", "")], [("Impersonate-Uid", "")]])
def test_headers_without_a_name_name_nobody(headers: list[tuple[str, str]]) -> None:
    assert impersonated([("Accept", "*/*"), *headers]) is None


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Group", 'UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)'),
        ("Uid", 'UID:"x", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        (
            "Extra-A",
            'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"x"}}',
        ),
    ],
)
def test_groups_without_a_user_are_refused(header: str, shown: str) -> None:
    with pytest.raises(BadRequest) as refused:
        impersonated([(f"Impersonate-{header}", "x")])

    wanted = f'&user.DefaultInfo{{Name:"", {shown}}}'
    assert refused.value.message == f"requested {wanted} without impersonating a user name"
