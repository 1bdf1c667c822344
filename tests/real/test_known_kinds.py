"""The tables of kinds are those of a real API server that serves everything it can."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reflet.apirules.schema.kind_tables import REMOVED, WITHOUT_RULES
from reflet.apirules.schema.known_kinds import KindStanding, belongs_to_kubernetes, group_of, judged
from tests.real.kube_server import KubeServer

EVERYTHING = (
    "--runtime-config=api/all=true",
    "--feature-gates=AllAlpha=true,AllBeta=true",
)


@pytest.fixture(scope="module")
def discovered() -> Iterator[frozenset[tuple[str, str]]]:
    """Every apiVersion and kind that has a resource of its own, alpha and beta included."""
    with KubeServer(api_server_flags=EVERYTHING) as kube:
        found = {("v1", each["kind"]) for each in _resources(kube, "/api/v1")}
        for group in kube.request("GET", "/apis").body["groups"]:
            for version in group["versions"]:
                api_version = version["groupVersion"]
                resources = _resources(kube, f"/apis/{api_version}")
                found |= {(api_version, each["kind"]) for each in resources}
        yield frozenset(found)


def _resources(kube: KubeServer, path: str) -> list[dict[str, str]]:
    resources = kube.request("GET", path).body["resources"]
    return [each for each in resources if "/" not in each["name"]]


def test_every_kind_that_is_discovered_is_served_or_known(
    discovered: frozenset[tuple[str, str]],
) -> None:
    fine = {KindStanding.SERVED, KindStanding.KNOWN}

    assert [each for each in sorted(discovered) if judged(*each).standing not in fine] == []


def test_every_kind_of_the_table_is_discovered(discovered: frozenset[tuple[str, str]]) -> None:
    ours = {(version, kind) for version, kinds in WITHOUT_RULES.items() for kind in kinds.split()}

    assert sorted(ours - discovered) == []


def test_nothing_that_was_removed_is_discovered_and_what_to_use_is(
    discovered: frozenset[tuple[str, str]],
) -> None:
    for version, removals in REMOVED.items():
        for removal in removals:
            for kind in removal.kinds.split():
                assert (version, kind) not in discovered
                if " " not in removal.instead:
                    assert (removal.instead, kind) in discovered


def test_every_discovered_group_belongs_to_kubernetes(
    discovered: frozenset[tuple[str, str]],
) -> None:
    assert all(belongs_to_kubernetes(group_of(api_version)) for api_version, _ in discovered)
