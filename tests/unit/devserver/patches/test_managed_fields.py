from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.field_sets import FieldSet
from reflet.devserver.patches.managed_fields import (
    MOST_UPDATERS,
    Manager,
    Managers,
    Owned,
    manager_of,
    read_managers,
    with_few_updaters,
    with_managed_fields,
    with_old_times,
    write_managers,
)
from reflet.errors import DecodeError


def entry(manager: Any = "me", operation: str = "Update", **parts: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:a": {}},
        **parts,
    }


def updater(name: str, time: str, version: str = "v1") -> tuple[Manager, Owned]:
    owned = Owned(FieldSet.of([(f"f:{name}",)]), version, time)
    return manager_of(name, "Update", version, ""), owned


def test_what_is_read_is_written_again() -> None:
    entries = [entry(operation="Apply"), entry(), entry(subresource="status")]

    assert write_managers(read_managers(entries)) == entries


def test_a_time_may_be_missing() -> None:
    untimed = {name: part for name, part in entry().items() if name != "time"}

    assert write_managers(read_managers([untimed])) == [untimed]


def test_appliers_come_first_then_the_oldest_then_by_name() -> None:
    entries = [
        entry("z", "Apply"),
        entry("c", time="2026-01-01T00:00:00Z"),
        entry("d", time="2026-01-01T00:00:00Z"),
        entry("d", time="2026-01-01T00:00:00Z", subresource="status"),
        entry("a", time="2026-01-02T00:00:00Z"),
    ]

    assert write_managers(read_managers(entries[::-1])) == entries


def test_an_applier_is_the_same_in_every_version_and_an_updater_is_not() -> None:
    both = [entry(operation="Apply", apiVersion=version) for version in ("v1", "v2")]
    updates = [entry(apiVersion=version) for version in ("v1", "v2")]

    assert (len(read_managers(both)), len(read_managers(updates))) == (1, 2)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("text", "managed fields are a list"),
        (["text"], "managed fields entry 0 is no object"),
        ([{}], "operation must be `Apply` or `Update`"),
        ([entry(operation="Melt")], "operation must be `Apply` or `Update`"),
        ([entry(apiVersion="")], "apiVersion must not be empty"),
        ([entry(), entry(fieldsType="")], "missing fieldsType in managed fields entry 1"),
        ([entry(fieldsType="V2")], 'invalid fieldsType "V2" in managed fields entry 0'),
        ([entry(fieldsV1={"f": {}})], "key must be 2 characters long:"),
        ([entry(manager=7)], "managed fields entry 0 has a part that is no text"),
    ],
)
def test_entries_that_are_not_well_formed_are_refused(entries: Any, problem: str) -> None:
    with pytest.raises(DecodeError) as refused:
        read_managers(entries)

    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        (manager_of("me", "Apply", "v1", ""), '"me"'),
        (manager_of("me", "Update", "v1", ""), '"me" using v1'),
        (manager_of("", "Update", "v1", ""), '"unknown" using v1'),
        (manager_of("me", "Apply", "v1", "status"), '"me" with subresource "status"'),
    ],
)
def test_a_manager_is_named_as_in_conflicts(manager: Manager, text: str) -> None:
    assert str(manager) == text


def test_as_many_updaters_as_allowed_stay() -> None:
    managers: Managers = dict(
        updater(f"m{n}", f"2026-01-01T00:00:{n:02}Z") for n in range(MOST_UPDATERS)
    )

    assert with_few_updaters(managers) == managers


def test_the_oldest_of_too_many_updaters_become_one() -> None:
    managers: Managers = dict(
        updater(f"m{n}", f"2026-01-01T00:00:{n:02}Z") for n in range(MOST_UPDATERS + 2)
    )

    few = with_few_updaters(managers)

    ancient = few[Manager("ancient-changes", "Update", "v1", "")]
    assert (len(few), ancient) == (
        MOST_UPDATERS,
        Owned(FieldSet.of([("f:m0",), ("f:m1",), ("f:m2",)]), "v1", "2026-01-01T00:00:02Z"),
    )


def test_updaters_of_different_versions_are_not_mixed() -> None:
    managers: Managers = dict(
        updater(f"m{n}", f"2026-01-01T00:00:{n:02}Z", f"v{n % 2}") for n in range(MOST_UPDATERS + 1)
    )

    few = with_few_updaters(managers)

    assert few[Manager("ancient-changes", "Update", "v0", "")].fields == FieldSet.of(
        [("f:m0",), ("f:m2",)]
    )


def test_appliers_are_never_too_many() -> None:
    managers: Managers = {
        manager_of(f"m{n}", "Apply", "v1", ""): Owned(FieldSet.of([("f:a",)]), "v1")
        for n in range(50)
    }

    assert with_few_updaters(managers) == managers


def test_an_object_without_managers_has_no_entries() -> None:
    document = {"metadata": {"name": "n", "managedFields": [entry()]}}

    assert with_managed_fields(document, {}) == {"metadata": {"name": "n"}}


def test_new_times_alone_are_no_change() -> None:
    live = {"metadata": {"managedFields": [entry()]}, "data": {"a": "1"}}
    new = {**live, "metadata": {"managedFields": [entry(time="2026-02-02T00:00:00Z")]}}

    assert with_old_times(live, new) is live


@pytest.mark.parametrize("changed", [{"data": {"a": "2"}}, {"metadata": {"managedFields": []}}])
def test_any_other_change_is_one(changed: dict[str, Any]) -> None:
    live = {"metadata": {"managedFields": [entry()]}, "data": {"a": "1"}}
    new = {**live, "metadata": {"managedFields": [entry(time="2026-02-02T00:00:00Z")]}, **changed}

    assert with_old_times(live, new) is new
