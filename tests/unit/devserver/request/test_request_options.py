"""Options of requests and the rules between them."""

from __future__ import annotations

import pytest

from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.request.request_options import (
    DeleteOptions,
    read_delete_options,
    read_list_query,
    read_write_options,
)
from reflet.errors import Invalid


def asked(query: str, agent: str = "") -> ApiRequest:
    return ApiRequest.read("GET", f"/x?{query}", agent)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("sendInitialEvents=true", ["resourceVersionMatch"]),
        ("sendInitialEvents=true&resourceVersionMatch=Exact", ["resourceVersionMatch"] * 2),
        ("resourceVersionMatch=NotOlderThan", ["resourceVersionMatch"]),
        ("continue=x", ["resourceVersionMatch"]),
    ],
)
def test_a_watch_refuses_what_only_lists_can_do(query: str, fields: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        read_list_query(asked(query), watch=True)

    assert [cause.field for cause in refused.value.causes] == fields
    assert refused.value.message.startswith('ListOptions.meta.k8s.io "" is invalid: ')


def test_a_streaming_list_needs_its_match() -> None:
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

    read = read_list_query(asked(query), watch=True)

    assert (read.send_initial_events, read.bookmarks) == (True, True)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("dryRun=Some", 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
        (
            "fieldValidation=Foo",
            (
                'fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", '
                '"Strict", "Warn"'
            ),
        ),
        (
            f"fieldManager={'x' * 129}",
            "fieldManager: Too long: may not be more than 128 bytes",
        ),
    ],
)
def test_a_write_refuses_unknown_values(query: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_write_options(asked(query), "CreateOptions")

    assert refused.value.message == f'CreateOptions.meta.k8s.io "" is invalid: {said}'


def test_an_apply_needs_a_manager_and_others_must_not_force() -> None:
    with pytest.raises(Invalid, match="fieldManager: Required value: is required for apply patch"):
        read_write_options(asked("", "kubectl/1"), "PatchOptions", apply=True)
    with pytest.raises(Invalid, match="force: Forbidden: may not be specified for non-apply"):
        read_write_options(asked("force=true"), "PatchOptions")


def test_the_options_of_a_delete_come_from_its_body_or_its_query() -> None:
    by_query = read_delete_options(asked("gracePeriodSeconds=3&dryRun=All"), None)
    by_body = read_delete_options(
        asked("gracePeriodSeconds=3"), {"preconditions": {"uid": "u", "resourceVersion": "5"}}
    )

    assert by_query == DeleteOptions(dry_run=True, grace_seconds=3)
    assert by_body == DeleteOptions(uid="u", resource_version="5")


def test_a_delete_orphans_in_one_way_only() -> None:
    with pytest.raises(Invalid, match="orphanDependents and deletionPropagation cannot be both"):
        read_delete_options(
            asked(""), {"propagationPolicy": "Background", "orphanDependents": True}
        )
