"""What objects are called in memory."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.errors import RefletError
from reflet.store.keys import (
    ExplicitKey,
    KeyFormatError,
    Tombstone,
    key_of,
    key_of_deleted,
    namespace_of,
    split_key,
)
from tests.unit.store.config_maps import Keyless, config_map


def test_a_key_is_namespace_and_name() -> None:
    assert key_of(config_map("a", namespace="shop")) == "shop/a"


def test_what_has_no_namespace_is_called_by_its_name() -> None:
    assert key_of(config_map("a", namespace="")) == "a"


def test_an_explicit_key_is_taken_as_it_is() -> None:
    assert key_of(ExplicitKey("a/b/c")) == "a/b/c"


def test_what_has_no_metadata_has_no_key() -> None:
    keyless: Any = Keyless()

    with pytest.raises(RefletError, match=r"^object has no meta: "):
        key_of(keyless)


def test_a_tombstone_brings_its_own_key() -> None:
    assert key_of_deleted(Tombstone("x/y", config_map("a"))) == "x/y"


def test_a_deleted_object_has_the_key_it_always_had() -> None:
    assert key_of_deleted(config_map("a")) == "shop/a"


@pytest.mark.parametrize(
    ("key", "parts"),
    [("name", ("", "name")), ("a/b", ("a", "b")), ("a/", ("a", "")), ("/b", ("", "b"))],
)
def test_a_key_is_split_at_its_slash(key: str, parts: tuple[str, str]) -> None:
    assert split_key(key) == parts


def test_a_key_with_two_slashes_is_none() -> None:
    with pytest.raises(KeyFormatError, match=r'^unexpected key format: "a/b/c"$'):
        split_key("a/b/c")


@pytest.mark.parametrize(("key", "namespace"), [("name", ""), ("a/b", "a"), ("/b", "")])
def test_the_namespace_of_a_key_is_what_splitting_says(key: str, namespace: str) -> None:
    assert namespace_of(key) == namespace == split_key(key)[0]


def test_even_a_strange_key_has_a_namespace() -> None:
    assert namespace_of("a/b/c") == "a/b"
