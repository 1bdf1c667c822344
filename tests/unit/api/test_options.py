from __future__ import annotations

import msgspec
import pytest

from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    Query,
    UpdateOptions,
    WatchOptions,
)
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ConfigurationError, ParseError


def test_the_first_watch_of_one_object_asks_for_its_state_and_bookmarks() -> None:
    options = WatchOptions(
        field_selector=FieldSelector.one_object("settings"),
        resource_version_match="NotOlderThan",
        send_initial_events=True,
        timeout_seconds=1800,
    )

    assert options.query() == (
        ("allowWatchBookmarks", "true"),
        ("fieldSelector", "metadata.name=settings"),
        ("resourceVersionMatch", "NotOlderThan"),
        ("sendInitialEvents", "true"),
        ("timeoutSeconds", "1800"),
        ("watch", "true"),
    )


def test_a_fallback_watch_starts_from_the_version_of_the_list() -> None:
    options = WatchOptions(resource_version="42", timeout_seconds=300)

    assert options.query() == (
        ("allowWatchBookmarks", "true"),
        ("resourceVersion", "42"),
        ("timeoutSeconds", "300"),
        ("watch", "true"),
    )


def test_a_watch_without_bookmarks_and_initial_events_says_so() -> None:
    options = WatchOptions(allow_bookmarks=False, send_initial_events=False)

    assert options.query() == (("sendInitialEvents", "false"), ("watch", "true"))


def test_the_first_list_of_one_object_is_limited_and_takes_what_the_cache_has() -> None:
    options = ListOptions(field_selector="metadata.name=settings", limit=500, resource_version="0")

    assert options.query() == (
        ("fieldSelector", "metadata.name=settings"),
        ("limit", "500"),
        ("resourceVersion", "0"),
    )


def test_every_list_option_has_its_parameter() -> None:
    options = ListOptions(
        label_selector="tier,app=web",
        field_selector="status.phase!=Failed",
        resource_version="7",
        resource_version_match="Exact",
        limit=10,
        continue_="token",
        timeout_seconds=0,
    )

    assert options.query() == (
        ("continue", "token"),
        ("fieldSelector", "status.phase!=Failed"),
        ("labelSelector", "app=web,tier"),
        ("limit", "10"),
        ("resourceVersion", "7"),
        ("resourceVersionMatch", "Exact"),
        ("timeoutSeconds", "0"),
    )


@pytest.mark.parametrize("version", [None, ""])
def test_a_consistent_read_names_no_version(version: str | None) -> None:
    assert ListOptions(resource_version=version).query() == ()


def test_a_selector_given_as_text_is_the_selector() -> None:
    options = ListOptions(label_selector="app=web", field_selector="a=b")

    assert (options.labels, options.fields) == (
        LabelSelector.parse("app=web"),
        FieldSelector.parse("a=b"),
    )


def test_options_are_equal_whether_selectors_came_as_text_or_parsed() -> None:
    assert ListOptions(label_selector="b,a") == ListOptions(
        label_selector=LabelSelector.parse("a,b")
    )


@pytest.mark.parametrize("options", [ListOptions, WatchOptions])
def test_a_malformed_selector_is_refused_at_once(
    options: type[ListOptions | WatchOptions],
) -> None:
    with pytest.raises(ParseError, match="label selector 'a in'"):
        options(label_selector="a in")


def test_a_malformed_field_selector_is_refused_at_once() -> None:
    with pytest.raises(ParseError, match="field selector 'a'"):
        ListOptions(field_selector="a")


def test_a_selector_that_matches_nothing_is_not_sent_as_everything() -> None:
    with pytest.raises(ConfigurationError, match="matches nothing"):
        WatchOptions(label_selector=LabelSelector.nothing())


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="limit is -1; expected 0 or more"):
        ListOptions(limit=-1)


def test_options_derived_from_others_are_checked_too() -> None:
    with pytest.raises(ConfigurationError, match="timeout_seconds"):
        msgspec.structs.replace(WatchOptions(), timeout_seconds=-1)


def test_a_get_may_be_answered_from_the_cache() -> None:
    assert GetOptions(resource_version="0").query() == (("resourceVersion", "0"),)


def test_a_plain_get_has_no_parameters() -> None:
    assert GetOptions().query() == ()


@pytest.mark.parametrize("options", [CreateOptions, UpdateOptions, PatchOptions])
def test_a_write_can_be_a_dry_run_under_a_name_with_validation(
    options: type[CreateOptions | UpdateOptions | PatchOptions],
) -> None:
    write = options(dry_run=True, field_manager="reflet", field_validation="Strict")

    assert write.query() == (
        ("dryRun", "All"),
        ("fieldManager", "reflet"),
        ("fieldValidation", "Strict"),
    )


@pytest.mark.parametrize(
    ("force", "query"),
    [
        (None, (("fieldManager", "reflet"),)),
        (False, (("fieldManager", "reflet"), ("force", "false"))),
        (True, (("fieldManager", "reflet"), ("force", "true"))),
    ],
)
def test_an_apply_forces_only_when_told(force: bool | None, query: Query) -> None:
    assert PatchOptions(field_manager="reflet", force=force).query() == query


def test_a_plain_delete_leaves_the_choices_to_the_server() -> None:
    assert msgspec.json.decode(DeleteOptions().body()) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
    }


def test_every_delete_option_has_its_place_in_the_body() -> None:
    options = DeleteOptions(
        dry_run=True,
        grace_period_seconds=0,
        propagation_policy="Foreground",
        uid="1-2-3",
        resource_version="7",
    )

    assert msgspec.json.decode(options.body()) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "dryRun": ["All"],
        "gracePeriodSeconds": 0,
        "preconditions": {"resourceVersion": "7", "uid": "1-2-3"},
        "propagationPolicy": "Foreground",
    }


def test_a_negative_grace_period_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="grace_period_seconds is -1"):
        DeleteOptions(grace_period_seconds=-1)


def test_a_patch_type_is_its_content_type() -> None:
    assert list(PatchType) == [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ]
