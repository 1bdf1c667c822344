from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reflet.apirules.schema.yaml_reading import DEEPEST
from reflet.devserver.patches.json_patch import MISSING, Operation
from reflet.devserver.patches.patch_bodies import (
    MOST_OPERATIONS,
    read_applied,
    read_json_patch,
    read_merge_patch,
    read_strategic_patch,
)
from reflet.errors import ApiError, BadRequest, RequestEntityTooLarge


def test_operations_are_read() -> None:
    body = (
        b'[{"op": "copy", "path": "/a", "from": "/b"}, {"op": "add", "path": "/c", "value": null}]'
    )

    assert read_json_patch(body, []) == (
        Operation("copy", "/a", "/b", MISSING),
        Operation("add", "/c", None, None),
    )


def test_unknown_and_repeated_fields_of_operations_are_complaints() -> None:
    complaints: list[str] = []

    read_json_patch(b'[{}, {"op": "test", "Path": "/", "path": "", "path": ""}]', complaints)

    assert complaints == [
        'json patch unknown field "[1].Path"',
        'json patch duplicate field "[1].path"',
    ]


def test_repeated_fields_are_complaints_with_their_place() -> None:
    complaints: list[str] = []

    patch = read_merge_patch(b'{"a": [{"b": 1, "b": 2}], "a.b": {"c": 1, "c": 1}}', complaints)

    assert (complaints, patch["a"]) == (
        ['duplicate field "a[0].b"', 'duplicate field "a.b.c"'],
        [{"b": 2}],
    )


def test_a_patch_of_as_many_operations_as_allowed_is_read() -> None:
    assert len(read_json_patch(json.dumps([{}] * MOST_OPERATIONS).encode(), [])) == MOST_OPERATIONS


def test_one_operation_more_is_too_large() -> None:
    with pytest.raises(RequestEntityTooLarge) as refused:
        read_json_patch(json.dumps([{}] * (MOST_OPERATIONS + 1)).encode(), [])

    assert refused.value.code == 413


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    assert read_merge_patch(b'{"a": "\xff"}', []) == {"a": "\N{REPLACEMENT CHARACTER}"}


def test_a_strategic_patch_that_is_null_changes_nothing() -> None:
    assert read_strategic_patch(b"null", []) == {}


def test_an_applied_object_may_be_yaml_or_json() -> None:
    assert read_applied(b"a: 1\n") == read_applied(b'{"a": 1}') == {"a": 1}


READERS: list[Callable[[bytes], Any]] = [
    lambda body: read_json_patch(body, []),
    lambda body: read_merge_patch(body, []),
    lambda body: read_strategic_patch(body, []),
    read_applied,
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 100_000])
def test_no_body_may_be_too_deep(read: Callable[[bytes], Any], depth: int) -> None:
    body = b'{"a":' * depth + b"1" + b"}" * depth

    with pytest.raises(BadRequest, match="exceeded max depth"):
        read(body)


def code_of(read: Callable[[bytes], Any], body: bytes) -> int:
    """Give the code that a body is refused with, 200 when it is read."""
    try:
        read(body)
    except ApiError as refused:
        return refused.code
    return 200


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"[", b"{", b"1e999", b"-", b"\x00", b'"'])
def test_a_body_that_is_no_patch_is_refused(read: Callable[[bytes], Any], body: bytes) -> None:
    assert code_of(read, body) == 400
