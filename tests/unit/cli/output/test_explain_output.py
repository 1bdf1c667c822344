"""An explanation for programs says what the tree says, and shows no secret."""

from __future__ import annotations

import json

import pytest

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


WRONG = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    env:
    - {name: URL, value: "http://$(HSOT)/"}
    envFrom:
    - secretRef: {name: absent}
"""


def test_what_a_missing_object_may_set_is_not_known(on_files: OnFiles) -> None:
    tree = on_files(WRONG, "explain").output

    assert "$(HSOT) is not known while an object or key is missing" in tree
    assert "warning" not in tree


def test_what_nothing_sets_is_told_once(on_files: OnFiles) -> None:
    present = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: absent}\n"

    tree = on_files(WRONG + present, "explain").output

    assert tree.count("HSOT) stays as it is") == 1
    assert "warning: $(HSOT) stays as it is: HSOT is not set" in tree


def test_the_tree_shows_by_colour_what_a_change_needs(
    on_files: OnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    tree = on_files(SHOP, "explain").output

    assert "\x1b[33ma change needs a restart\x1b[0m" in tree
    assert "a change needs no restart\x1b[0m" in tree
    assert "\x1b[2mfrom key" in tree
