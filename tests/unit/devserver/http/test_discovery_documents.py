from __future__ import annotations

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.http import discovery_documents
from tests.unit.devserver.object_scene import DEFINITION


def test_the_version_is_that_of_the_kubernetes_whose_behaviour_is_reproduced() -> None:
    assert (discovery_documents.version()["major"], discovery_documents.version()["minor"]) == (
        "1",
        "36",
    )


def test_the_core_group_says_where_the_server_is() -> None:
    document = discovery_documents.core_versions("127.0.0.1:1")

    assert document["versions"] == ["v1"]
    assert document["serverAddressByClientCIDRs"][0]["serverAddress"] == "127.0.0.1:1"


def test_groups_name_their_preferred_version() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)

    group = discovery_documents.group(kinds, "example.org")

    assert group is not None
    assert group["preferredVersion"] == {"groupVersion": "example.org/v1", "version": "v1"}
    assert "example.org" in {
        each["name"] for each in discovery_documents.group_list(kinds)["groups"]
    }
    assert discovery_documents.group(kinds, "nothing") is None


def test_resources_and_their_parts_are_listed() -> None:
    document = discovery_documents.resource_list(Kinds(), "apps", "v1")

    assert document is not None
    resources = {each["name"]: each for each in document["resources"]}
    assert resources["deployments"]["shortNames"] == ["deploy"]
    assert resources["deployments/scale"]["kind"] == "Scale"
    assert document["groupVersion"] == "apps/v1"
    assert discovery_documents.resource_list(Kinds(), "apps", "v9") is None


def test_the_aggregated_form_has_everything_at_once() -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)

    core, others = (discovery_documents.aggregated(kinds, core=core) for core in (True, False))

    (only,) = core["items"]
    pods = next(each for each in only["versions"][0]["resources"] if each["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    assert {part["subresource"] for part in pods["subresources"]} >= {"status", "log"}
    groups = {item["metadata"]["name"]: item for item in others["items"]}
    assert [each["version"] for each in groups["example.org"]["versions"]] == ["v1", "v1beta1"]
    gears = groups["example.org"]["versions"][0]["resources"][0]
    assert gears["responseKind"] == {"group": "example.org", "version": "v1", "kind": "Gear"}
