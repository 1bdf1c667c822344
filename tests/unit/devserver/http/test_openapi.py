from __future__ import annotations

import json
from typing import Final

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.devserver.http.openapi import OpenApi
from tests.unit.devserver.object_scene import DEFINITION

GEARS: Final = "apis/example.org/v1"


def test_the_index_leads_to_every_document() -> None:
    documents = OpenApi(Kinds())

    index = documents.index()["paths"]

    assert {"api/v1", "apis/apps/v1"} <= index.keys()
    assert index["api/v1"]["serverRelativeURL"].startswith("/openapi/v3/api/v1?hash=")
    assert all(documents.encoded(path) for path in index)


def test_a_document_that_is_not_there_is_none() -> None:
    assert OpenApi(Kinds()).encoded("apis/nothing/v1") is None


def test_a_patch_says_that_fields_can_be_validated() -> None:
    """kubectl asks the document for the parameter before it sends it."""
    document = json.loads(OpenApi(Kinds()).encoded("api/v1") or b"")

    patch = document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"]

    assert "fieldValidation" in {each["name"] for each in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "ConfigMap"


def test_every_reference_leads_somewhere() -> None:
    documents = OpenApi(Kinds())

    for path in (*documents.paths(), "v2"):
        content = (documents.encoded(path) or b"").decode()
        document = json.loads(content)
        known = document["definitions"] if path == "v2" else document["components"]["schemas"]
        prefix = "#/definitions/" if path == "v2" else "#/components/schemas/"
        for part in content.split(f'"$ref":"{prefix}')[1:]:
            assert part.partition('"')[0] in known


def test_a_new_definition_changes_the_documents() -> None:
    kinds = Kinds()
    documents = OpenApi(kinds)
    before = documents.digest("v2")

    kinds.add_custom(DEFINITION)

    assert documents.digest("v2") != before
    assert documents.digest("api/v1") == OpenApi(Kinds()).digest("api/v1")
    schemas = documents.document_3("apis/example.org/v1")["components"]["schemas"]
    assert {"org.example.v1.Gear", "org.example.v1.GearList"} <= schemas.keys()


def test_reviews_can_only_be_made() -> None:
    paths = OpenApi(Kinds()).document_3("apis/authorization.k8s.io/v1")["paths"]

    assert paths["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"].keys() == {
        "post",
        "parameters",
    }


def test_the_binary_form_is_made_once_until_the_kinds_change() -> None:
    kinds = Kinds()
    documents = OpenApi(kinds)
    before = documents.binary_2()

    again = documents.binary_2()
    kinds.add_custom(DEFINITION)
    after = documents.binary_2()

    assert again is before
    assert b"org.example.v1.GearList" not in before
    assert b"org.example.v1.GearList" in after


@pytest.mark.parametrize(("path", "strategic"), [("apis/apps/v1", True), (GEARS, False)])
def test_kubectl_is_told_where_it_can_merge_by_strategy(path: str, strategic: bool) -> None:
    """It patches custom objects by another type, which it chooses by these documents."""
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    documents = OpenApi(kinds)

    bodies = [
        item["patch"]["requestBody"]["content"]
        for item in documents.document_3(path)["paths"].values()
        if "patch" in item
    ]
    consumed = [
        item["patch"]["consumes"]
        for name, item in documents.document_2()["paths"].items()
        if name.startswith(f"/{path}/") and "patch" in item
    ]

    assert bodies
    assert consumed
    for types in (*bodies, *consumed):
        assert ("application/strategic-merge-patch+json" in types) is strategic
        assert "application/merge-patch+json" in types
