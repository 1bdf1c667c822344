"""What holds for every patch, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from reflet.devserver.patches.field_sets import FieldSet, decoded, key_element, value_element
from reflet.devserver.patches.json_patch import Operation, json_patch, merge_patch
from reflet.devserver.patches.json_values import check_depth, copied, same
from reflet.devserver.patches.patch_bodies import (
    read_applied,
    read_json_patch,
    read_strategic_patch,
)
from reflet.devserver.patches.server_side_apply import ApplyTarget, apply, track_update
from reflet.devserver.patches.strategic_merge import strategic_merge
from reflet.devserver.patches.typed_merge import compared, fields_of, merged
from reflet.devserver.patches.typed_values import misfits
from reflet.errors import ApiError, DecodeError
from tests.unit.devserver.small_schemas import KIND, SPEC

NOW: Final = "2026-01-01T00:00:00Z"
THINGS: Final = ApplyTarget(
    schema=KIND,
    api_version="v1",
    kind="Thing",
    blank={"metadata": {}, "spec": {}, "status": {}},
)

# Few names and values, so that documents have something in common.
names = st.sampled_from(["a", "b", "c", "name", "number", "parts", "tags"])
texts = st.sampled_from(["", "a", "b", "c"])
numbers = st.integers(0, 3)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts, st.just(1.0))
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=12,
)
objects = st.dictionaries(names, documents, max_size=4)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def items(
    inner: st.SearchStrategy[dict[str, Any]], *keys: str
) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(inner, max_size=4, unique_by=lambda item: tuple(item[key] for key in keys))


text_maps = st.dictionaries(texts, texts, min_size=1, max_size=3)
ports = items(
    st.fixed_dictionaries(
        {"number": numbers, "protocol": st.just("TCP")}, optional={"name": texts}
    ),
    "number",
)
parts = items(
    st.fixed_dictionaries(
        {"name": texts},
        optional={"size": numbers, "labels": text_maps, "ports": ports.filter(bool)},
    ),
    "name",
)
# Values that fit the schema, without nulls and empty containers, which mean something of
# their own.
typed_fields: Final[dict[str, st.SearchStrategy[Any]]] = {
    "size": numbers,
    "on": st.booleans(),
    "name": texts,
    "parts": parts.filter(bool),
    "tags": st.lists(texts, min_size=1, max_size=3, unique=True),
    "steps": st.lists(texts, min_size=1, max_size=3),
    "whole": text_maps,
    "texts": text_maps,
}
typed_specs = some(**typed_fields)
specs = some(
    **typed_fields,
    loose=st.dictionaries(names, st.one_of(numbers, text_maps), min_size=1, max_size=3),
)
# Patches that say anything at all, some of it in the language of strategic merges.
odd_words = st.sampled_from(
    [
        *("$patch", "$retainKeys", "$setElementOrder/tags", "$setElementOrder/parts", "name"),
        *("$deleteFromPrimitiveList/tags", "$deleteFromPrimitiveList", "tags", "parts", "texts"),
        *("steps", "loose", "size", "strategy", "a", "b"),
    ]
)
odd_values = st.recursive(
    st.one_of(scalars, st.sampled_from(["replace", "delete", "merge"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(odd_words, inner, max_size=3)
    ),
    max_leaves=12,
)
odd_patches = st.dictionaries(odd_words, odd_values, max_size=4)

elements = st.one_of(
    names.map(lambda name: f"f:{name}"),
    texts.map(value_element),
    st.builds(lambda name, number: key_element({"n": name, "m": number}), texts, numbers),
)
path_sets = st.sets(st.lists(elements, min_size=1, max_size=3).map(tuple), max_size=8)


def code_of(act: Callable[[], object]) -> int:
    """Give the code of the refusal, 200 when there is none."""
    try:
        act()
    except ApiError as refused:
        return refused.code
    return 200


# JSON patches

pointers = st.lists(st.one_of(names, st.sampled_from(["0", "1", "-", "-1", "x"])), max_size=3).map(
    lambda steps: "".join(f"/{step}" for step in steps)
)
operations = st.builds(
    Operation,
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    pointers,
    pointers,
    documents,
)


@given(objects, st.lists(operations, max_size=6))
def test_operations_change_the_result_and_nothing_else(
    document: dict[str, Any], steps: list[Operation]
) -> None:
    before = json.dumps([document, [step.value for step in steps]])

    code = code_of(lambda: json_patch(document, steps))

    assert code in {200, 422}
    assert json.dumps([document, [step.value for step in steps]]) == before


@given(objects, documents)
def test_what_is_added_can_be_tested_and_removed_again(
    document: dict[str, Any], value: Any
) -> None:
    steps = [
        Operation("add", "/new", value=value),
        Operation("test", "/new", value=value),
        Operation("remove", "/new"),
    ]

    assert json_patch(document, steps) == document


@given(objects, names)
def test_what_is_moved_there_and_back_is_where_it_was(document: dict[str, Any], name: str) -> None:
    document = {**document, name: 1}
    steps = [
        Operation("move", "/new", source=f"/{name}"),
        Operation("move", f"/{name}", source="/new"),
    ]

    assert json_patch(document, steps) == document


# Merge patches


@given(objects, specs)
def test_merging_twice_is_merging_once(document: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge_patch(document, patch)

    assert merge_patch(once, patch) == once


@given(objects, objects)
def test_every_key_with_null_is_gone_and_every_scalar_is_there(
    document: dict[str, Any], patch: dict[str, Any]
) -> None:
    result = merge_patch(document, patch)

    assert all(
        key not in result if value is None else result[key] == value
        for key, value in patch.items()
        if not isinstance(value, dict | list)
    )


# Strategic merge patches


@given(specs, odd_patches)
def test_any_strategic_patch_is_merged_or_refused_and_changes_nothing_else(
    document: dict[str, Any], patch: dict[str, Any]
) -> None:
    before = json.dumps([document, patch])

    code = code_of(lambda: strategic_merge(document, patch, SPEC))

    assert code in {200, 400, 422, 500}
    assert json.dumps([document, patch]) == before


@given(typed_specs, typed_specs)
def test_strategic_merging_twice_is_merging_once(
    document: dict[str, Any], patch: dict[str, Any]
) -> None:
    once = strategic_merge(document, patch, SPEC)

    assert strategic_merge(once, patch, SPEC) == once


@given(typed_specs, typed_specs)
def test_a_strategic_merge_still_fits_the_schema(
    document: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert list(misfits(strategic_merge(document, patch, SPEC), SPEC)) == []


# Sets of fields


@given(path_sets, path_sets)
def test_sets_of_fields_are_sets(left: set[tuple[str, ...]], right: set[tuple[str, ...]]) -> None:
    a, b = FieldSet.of(left), FieldSet.of(right)

    assert (
        set(a.union(b).paths()),
        set(a.intersection(b).paths()),
        set(a.difference(b).paths()),
    ) == (left | right, left & right, left - right)


@given(path_sets, path_sets)
def test_going_without_fields_is_going_without_what_they_lead_to(
    left: set[tuple[str, ...]], right: set[tuple[str, ...]]
) -> None:
    remaining = {path for path in left if not any(path[: len(gone)] == gone for gone in right)}

    assert set(FieldSet.of(left).without(FieldSet.of(right)).paths()) == remaining


@given(path_sets)
def test_what_is_written_is_read_again(paths: set[tuple[str, ...]]) -> None:
    fields = FieldSet.of(paths)

    assert decoded(json.loads(json.dumps(fields.encoded()))) == fields


# Comparing and merging


@given(specs, specs)
def test_what_one_side_adds_the_other_removes(old: dict[str, Any], new: dict[str, Any]) -> None:
    there, back = compared(old, new, SPEC), compared(new, old, SPEC)

    assert (there.added, there.modified) == (back.removed, back.modified)


@given(specs, specs)
def test_after_merging_nothing_applied_is_different(
    live: dict[str, Any], applied: dict[str, Any]
) -> None:
    together = merged(live, applied, SPEC)

    assert compared(together, applied, SPEC).written == FieldSet.of([])


@given(specs)
def test_a_value_has_the_fields_that_it_adds_to_nothing(value: dict[str, Any]) -> None:
    added = compared({}, value, SPEC).added

    assert fields_of(value, SPEC).difference(added) == FieldSet.of([])


# Applying


def thing(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec}


def applied(live: dict[str, Any] | None, spec: dict[str, Any], manager: str) -> dict[str, Any]:
    return apply(THINGS, live, thing(spec), manager=manager, force=True, now=NOW)


@given(specs, specs)
def test_applying_the_same_again_changes_nothing(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    once = applied(applied(None, first, "one"), second, "two")

    assert applied(once, second, "two") == once


@given(specs, specs, specs)
def test_whoever_applies_by_force_gets_what_it_says(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    made = applied(applied(applied(None, first, "one"), second, "two"), third, "one")

    assert compared(made["spec"] or {}, third, SPEC).written == FieldSet.of([])


@given(specs, specs)
def test_an_applier_that_says_other_things_leaves_only_these(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    made = applied(applied(None, first, "one"), second, "one")

    assert same_content(made["spec"] or {}, second)


@given(specs, specs)
def test_applying_changes_neither_the_live_object_nor_the_applied_one(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    live = applied(None, first, "one")
    before = json.dumps([live, second])

    applied(live, second, "two")

    assert json.dumps([live, second]) == before


@given(specs, specs)
def test_every_field_that_an_update_writes_has_one_updater(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    live = track_update(THINGS, None, thing(old), manager="one", now=NOW)

    made = track_update(THINGS, live, thing(new), manager="two", now=NOW)

    sets = [decoded(entry["fieldsV1"]) for entry in made["metadata"].get("managedFields", ())]
    assert len(sets) < 2 or sets[0].intersection(sets[1]) == FieldSet.of([])


def same_content(left: Any, right: Any) -> bool:
    """Tell whether two values differ at most in the order of lists that are merged."""
    changes = compared(left, right, SPEC)
    return not (changes.removed or changes.written)


# Bodies


@given(st.binary(max_size=40))
def test_any_bytes_are_a_patch_or_refused(body: bytes) -> None:
    codes = {
        code_of(lambda: read_json_patch(body, [])),
        code_of(lambda: read_strategic_patch(body, [])),
    }

    assert codes <= {200, 400}


@given(st.text(alphabet="ab:-[]{}&*!<>'\"#|\n ,?%@0.1~", max_size=30))
def test_any_text_is_an_applied_object_or_refused(text: str) -> None:
    assert code_of(lambda: read_applied(text.encode())) in {200, 400}


@given(documents)
def test_a_copy_is_the_same_unless_it_is_too_deep(value: Any) -> None:
    try:
        check_depth(value)
    except DecodeError:
        return

    assert same(copied(value), value)
