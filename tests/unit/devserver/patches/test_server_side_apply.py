from __future__ import annotations

from typing import Any, Final

import pytest

from reflet.devserver.patches.field_sets import FieldSet
from reflet.devserver.patches.managed_fields import managed_fields_of
from reflet.devserver.patches.server_side_apply import (
    LAST_APPLIED,
    MOST_ANNOTATIONS,
    ApplyTarget,
    apply,
    track_update,
)
from reflet.errors import ApiError, BadRequest, Conflict
from tests.unit.devserver.small_schemas import KIND

THINGS: Final = ApplyTarget(
    schema=KIND,
    api_version="example.test/v1",
    kind="Thing",
    blank={"metadata": {}, "spec": {}, "status": {}},
    reset=FieldSet.of([("f:status",)]),
)
STATUS: Final = ApplyTarget(
    schema=KIND,
    api_version="example.test/v1",
    kind="Thing",
    blank=THINGS.blank,
    subresource="status",
    reset=FieldSet.of([("f:spec",)]),
)
Thing = dict[str, Any]


def thing(spec: Any = None, **parts: Any) -> Thing:
    return {
        "apiVersion": "example.test/v1",
        "kind": "Thing",
        "metadata": {"name": "t", **parts.pop("metadata", {})},
        **({} if spec is None else {"spec": spec}),
        **parts,
    }


def applied(live: Thing | None, what: Thing, manager: str = "me", **options: Any) -> Thing:
    options = {"force": False, "now": "2026-01-01T00:00:00Z", **options}
    return apply(options.pop("target", THINGS), live, what, manager=manager, **options)


def updated(live: Thing | None, new: Thing, manager: str = "me", **options: Any) -> Thing:
    options = {"now": "2026-01-01T00:00:00Z", **options}
    return track_update(options.pop("target", THINGS), live, new, manager=manager, **options)


def owned(document: Thing) -> dict[str, Any]:
    """Who owns what, in few words."""
    return {
        f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
        for entry in managed_fields_of(document) or ()
    }


def test_whoever_creates_owns_what_is_there() -> None:
    made = updated(None, thing({"size": 1, "texts": {"a": "1"}}, metadata={"labels": {"x": "1"}}))

    assert owned(made) == {
        "me Update": {
            "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
            "f:spec": {"f:size": {}, "f:texts": {".": {}, "f:a": {}}},
        }
    }


def test_whoever_changes_a_value_takes_it() -> None:
    live = updated(None, thing({"size": 1, "name": "n"}))

    made = updated(live, thing({"size": 2, "name": "n"}), "other")

    assert owned(made) == {
        "me Update": {"f:spec": {"f:name": {}}},
        "other Update": {"f:spec": {"f:size": {}}},
    }


def test_whoever_changes_nothing_owns_nothing() -> None:
    live = updated(None, thing({"size": 1}))

    made = updated(live, thing({"size": 1}), "other", now="2027-01-01T00:00:00Z")

    assert managed_fields_of(made) == managed_fields_of(live)


def test_what_a_write_cannot_change_is_not_owned() -> None:
    assert owned(updated(None, thing(status={"phase": "up"}))) == {}


def test_an_object_that_nobody_tracks_stays_so_until_it_is_applied() -> None:
    assert owned(updated(thing({"size": 1}), thing({"size": 2}))) == {}


def test_a_request_may_bring_the_managers_back() -> None:
    live = updated(None, thing({"size": 1}))
    brought = {"managedFields": [{**managed_fields_of(live)[0], "manager": "renamed"}]}

    made = updated(live, thing({"size": 1}, metadata=brought))

    assert owned(made) == {"renamed Update": {"f:spec": {"f:size": {}}}}


def test_managers_that_are_brought_broken_are_ignored() -> None:
    live = updated(None, thing({"size": 1}))

    made = updated(live, thing({"size": 1}, metadata={"managedFields": [{"manager": "x"}]}))

    assert owned(made) == owned(live)


def test_managers_cannot_be_brought_by_the_way_of_a_subresource() -> None:
    live = updated(None, thing({"size": 1}))

    made = updated(live, thing({"size": 1}, metadata={"managedFields": []}), target=STATUS)

    assert owned(made) == owned(live)


def test_an_empty_list_that_reading_has_dropped_forgets_all_managers() -> None:
    live = updated(None, thing({"size": 1}))

    assert owned(updated(live, thing({"size": 1}), entries=[])) == {}


def test_a_live_object_with_broken_entries_starts_over() -> None:
    live = thing({"size": 1}, metadata={"managedFields": "broken"})

    assert owned(updated(live, thing({"size": 2}))) == {}


def test_an_applier_owns_what_it_says_and_not_what_leads_there() -> None:
    made = applied(None, thing({"texts": {"a": "1"}}))

    assert owned(made) == {"me Apply": {"f:spec": {"f:texts": {"f:a": {}}}}}


def test_what_an_applier_stops_saying_goes() -> None:
    live = applied(None, thing({"texts": {"a": "1", "b": "2"}, "size": 1}))

    made = applied(live, thing({"texts": {"b": "2"}}))

    assert made["spec"] == {"texts": {"b": "2"}}


def test_what_another_says_too_stays() -> None:
    live = applied(applied(None, thing({"size": 1})), thing({"size": 1}), "other")

    made = applied(live, thing())

    assert (made["spec"], owned(made)) == ({"size": 1}, {"other Apply": {"f:spec": {"f:size": {}}}})


def test_what_nobody_said_stays() -> None:
    live = applied(None, thing({"parts": [{"name": "a", "size": 1}]}))
    live["spec"]["parts"][0]["labels"] = {"filled": "in"}

    made = applied(live, thing({"parts": [{"name": "a"}]}))

    assert made["spec"] == {"parts": [{"name": "a", "labels": {"filled": "in"}}]}


def test_a_map_that_is_emptied_because_its_last_key_is_given_up_goes() -> None:
    live = applied(None, thing({"loose": {"a": {"b": 1}}, "size": 1}))

    assert applied(live, thing({"size": 1}))["spec"] == {"size": 1}


def test_a_map_that_is_emptied_and_still_owned_is_null() -> None:
    live = applied(None, thing({"loose": {"a": 1}}))

    assert applied(live, thing({"loose": {}}))["spec"] == {"loose": None}


def test_another_value_for_what_somebody_owns_is_a_conflict() -> None:
    live = applied(None, thing({"parts": [{"name": "a", "size": 1}]}))

    with pytest.raises(Conflict) as refused:
        applied(live, thing({"parts": [{"name": "a", "size": 2}]}), "other")

    (cause,) = refused.value.causes
    assert (refused.value.code, cause.type, cause.field, refused.value.message) == (
        409,
        "FieldManagerConflict",
        '.spec.parts[name="a"].size',
        'Apply failed with 1 conflict: conflict with "me": .spec.parts[name="a"].size',
    )


def test_force_takes_the_value_and_its_ownership() -> None:
    live = applied(None, thing({"size": 1}))

    made = applied(live, thing({"size": 2}), "other", force=True)

    assert (made["spec"], owned(made)) == ({"size": 2}, {"other Apply": {"f:spec": {"f:size": {}}}})


def test_a_manager_that_only_agrees_has_no_time() -> None:
    live = applied(None, thing({"size": 1}))

    made = applied(live, thing({"size": 1}), "other", now="2027-01-01T00:00:00Z")

    assert [entry.get("time") for entry in managed_fields_of(made)] == [
        None,
        "2026-01-01T00:00:00Z",
    ]


def test_saying_the_same_again_changes_nothing() -> None:
    live = applied(None, thing({"size": 1, "tags": ["a", "b"]}))

    assert applied(live, thing({"size": 1, "tags": ["a", "b"]}), now="2027-01-01T00:00:00Z") == live


def test_an_object_that_nobody_tracked_belongs_to_those_before_the_first_apply() -> None:
    made = applied(thing({"size": 1}), thing({"name": "n"}))

    assert owned(made) == {
        "me Apply": {"f:spec": {"f:name": {}}},
        "before-first-apply Update": {"f:spec": {"f:size": {}}},
    }


def test_an_applier_of_a_subresource_is_another_one() -> None:
    live = applied(None, thing({"size": 1}))

    made = applied(live, thing(status={"phase": "up"}), target=STATUS)

    assert [(entry["manager"], entry.get("subresource")) for entry in managed_fields_of(made)] == [
        ("me", None),
        ("me", "status"),
    ]


def test_broken_entries_of_the_live_object_are_an_error_of_the_server() -> None:
    live = thing(metadata={"managedFields": [{"operation": "Melt"}]})

    with pytest.raises(ApiError) as refused:
        applied(live, thing())

    assert (refused.value.code, refused.value.message) == (
        500,
        "failed to decode managed fields: operation must be `Apply` or `Update`",
    )


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ({}, "invalid object type: /, Kind="),
        ({"apiVersion": 1, "kind": ["Thing"]}, "invalid object type: /, Kind="),
        ({"apiVersion": "v1", "kind": "Thing"}, "invalid object type: /v1, Kind=Thing"),
        (thing(metadata={"managedFields": []}), "metadata.managedFields must be nil"),
    ],
)
def test_an_applied_object_must_be_of_the_kind(what: Thing, problem: str) -> None:
    with pytest.raises(BadRequest) as refused:
        applied(None, what)

    assert refused.value.message == problem


def test_metadata_of_a_wrong_type_is_a_misfit_like_any_other() -> None:
    with pytest.raises(ApiError) as refused:
        applied(None, {**thing(), "metadata": "t"})

    assert refused.value.message == (
        "failed to create typed patch object (/; example.test/v1, Kind=Thing): "
        ".metadata: expected map, got &{t}"
    )


# Taking over from kubectl


def by_the_client(spec: Any, last: str) -> Thing:
    document = thing(spec, metadata={"annotations": {LAST_APPLIED: last}})
    return updated(None, document, "kubectl-client-side-apply")


LAST: Final = (
    '{"apiVersion":"example.test/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":1}}'
)


def test_kubectl_takes_over_what_it_applied_on_the_clients_side() -> None:
    made = applied(by_the_client({"size": 1}, LAST), thing({"size": 2}), "kubectl")

    assert (made["spec"], made["metadata"]["annotations"]) == (
        {"size": 2},
        {
            LAST_APPLIED: '{"apiVersion":"example.test/v1","kind":"Thing",'
            '"metadata":{"name":"t"},"spec":{"size":2}}\n'
        },
    )


@pytest.mark.parametrize(
    "last",
    [
        "",
        "{",
        "[]",
        "[" * 5000,
        '{"apiVersion":"v9"}',
        LAST.replace(":1}", ':"x"}'),
        LAST.replace(":1}", ":7}"),
    ],
)
def test_kubectl_takes_over_nothing_that_it_did_not_leave(last: str) -> None:
    with pytest.raises(Conflict):
        applied(by_the_client({"size": 1}, last), thing({"size": 2}), "kubectl")


def test_nobody_else_takes_over_what_kubectl_left() -> None:
    with pytest.raises(Conflict):
        applied(by_the_client({"size": 1}, LAST), thing({"size": 2}), "somebody")


def test_an_annotation_that_would_be_too_large_goes() -> None:
    live = by_the_client({"size": 1}, LAST)

    made = applied(live, thing({"size": 1, "name": "x" * MOST_ANNOTATIONS}), "kubectl")

    assert made["metadata"]["annotations"] == {}
