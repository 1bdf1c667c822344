"""An explanation for programs says what the tree says, and shows no secret."""

from __future__ import annotations

import json

from tests.unit.cli.shop_files import SHOP, OnFiles


def test_the_document_has_expansions_and_who_sees_a_file(on_files: OnFiles) -> None:
    shown = on_files(SHOP, "explain", "-o", "json")

    document = json.loads(shown.output)
    web = document["containers"][1]
    url = next(each for each in web["variables"] if each["name"] == "DB_URL")
    assert (document["kind"], document["workload"]) == (
        "Explanation",
        {"kind": "Deployment", "name": "web"},
    )
    assert url["follows"] == "restart"
    assert [(each["name"], each["value"]) for each in url["expansions"]] == [
        ("DB_USER", "‹secret 4 B›"),
        ("DB_PASSWORD", "‹secret 6 B›"),
        ("SHOP", "main"),
    ]
    motd = document["volumes"][0]["files"][2]
    assert motd["seenBy"] == [
        {"container": "web", "path": "/etc/shop/motd", "follows": "live", "subPath": None},
        {"container": "web", "path": "/etc/motd", "follows": "never", "subPath": "motd"},
    ]
    assert "geheim" not in shown.output


def test_yaml_is_the_same_document(on_files: OnFiles) -> None:
    assert "kind: Explanation\n" in on_files(SHOP, "explain", "-o", "yaml").output
