"""The folder after any series of events is what a fresh start with the same objects writes."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from reflet.sidecar.file_owners import Claim, Owner, OwnerTable

OWNERS = tuple(
    Owner(rank, namespace, name, "secret" if rank == 0 else "configmap")
    for rank in (0, 1)
    for namespace in ("a", "ab")
    for name in ("c", "bc")
)
PATHS = ("/f", "/g", "/d/f", "/d/g")

contents = st.dictionaries(st.sampled_from(PATHS), st.sampled_from("xyz"), max_size=3)
events = st.lists(st.tuples(st.sampled_from(OWNERS), contents), max_size=30)


def fresh(objects: Mapping[Owner, Mapping[str, str]]) -> dict[str, Claim]:
    """What a start with these objects wants where: the last owner has the file."""
    found: dict[str, Claim] = {}
    for owner in sorted(objects):
        for path, content in objects[owner].items():
            found[path] = Claim(owner, content)
    return found


@given(events)
def test_a_table_is_what_a_fresh_start_would_make(
    series: list[tuple[Owner, dict[str, str]]],
) -> None:
    table = OwnerTable()
    objects: dict[Owner, dict[str, str]] = {}
    for owner, wanted in series:
        table.replace(owner, dict(wanted))
        objects[owner] = wanted

    expected = fresh(objects)
    assert {path: table.wanted(path) for path in table} == expected
    assert all(table.wanted(path) is None for path in set(PATHS) - expected.keys())


@given(events)
def test_looking_at_the_paths_that_are_named_keeps_a_folder_right(
    series: list[tuple[Owner, dict[str, str]]],
) -> None:
    table = OwnerTable()
    folder: dict[str, Claim] = {}
    for owner, wanted in series:
        for path in table.replace(owner, dict(wanted)):
            claim = table.wanted(path)
            if claim is None:
                del folder[path]
            else:
                folder[path] = claim

        assert folder == {path: table.wanted(path) for path in table}


@given(events)
def test_contested_paths_are_those_with_several_owners(
    series: list[tuple[Owner, dict[str, str]]],
) -> None:
    table = OwnerTable()
    objects: dict[Owner, dict[str, str]] = {}
    for owner, wanted in series:
        table.replace(owner, dict(wanted))
        objects[owner] = wanted
    claims = [path for wanted in objects.values() for path in wanted]

    assert set(table.contested) == {path for path in claims if claims.count(path) > 1}
