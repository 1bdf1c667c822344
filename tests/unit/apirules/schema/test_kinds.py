from __future__ import annotations

import copy

from reflet.apirules.schema.kinds import Kinds
from tests.unit.devserver.object_scene import DEFINITION


def test_a_kind_is_found_by_url_by_body_and_by_storage_key() -> None:
    kinds = Kinds()

    found = kinds.by_resource("apps", "v1", "deployments")

    assert found is not None
    assert kinds.by_kind("apps/v1", "Deployment") is found
    assert kinds.by_storage_key("deployments.apps") is found


def test_what_is_not_served_is_not_found() -> None:
    kinds = Kinds()

    assert kinds.by_resource("", "v1", "nothing") is None
    assert kinds.by_kind("v1", "Nothing") is None
    assert kinds.by_storage_key("nothing") is None


def test_a_definition_adds_its_kind_in_every_served_version() -> None:
    kinds = Kinds()

    added = kinds.add_custom(DEFINITION)

    assert [kind.version for kind in added] == ["v1", "v1beta1"]
    assert kinds.groups()["example.org"] == ("v1", "v1beta1")
    stored = kinds.by_storage_key("gears.example.org")
    assert stored is not None
    assert stored.version == "v1"


def test_a_changed_definition_replaces_the_old_one() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    changed = copy.deepcopy(DEFINITION)
    changed["spec"]["versions"][0]["served"] = False

    kinds.add_custom(changed)

    assert kinds.groups()["example.org"] == ("v1",)
    assert kinds.by_resource("example.org", "v1beta1", "gears") is None


def test_a_removed_definition_takes_its_kind_away() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)

    removed = kinds.remove_custom("gears.example.org")

    assert [kind.kind for kind in removed] == ["Gear", "Gear"]
    assert kinds.by_kind("example.org/v1", "Gear") is None
    assert "example.org" not in kinds.groups()


def test_every_change_can_be_noticed() -> None:
    kinds = Kinds()
    before = kinds.generation

    kinds.add_custom(DEFINITION)

    assert kinds.generation > before


def test_kinds_of_one_group_version_are_listed() -> None:
    assert {kind.kind for kind in Kinds().in_version("batch", "v1")} == {"Job", "CronJob"}


def test_a_group_is_custom_while_definitions_alone_make_it() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)

    assert [kinds.is_custom(group) for group in ("", "apps", "example.org")] == [False, False, True]
