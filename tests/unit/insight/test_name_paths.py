"""Paths that lead from an object to the names in it."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.insight.name_paths import is_path, may_lead_somewhere, member_names, texts_at

DOCUMENT: dict[str, Any] = {
    "spec": {
        "tls": [{"secretName": "a"}, {"secretName": ""}, {"hosts": ["b"]}, None],
        "users": {"x": {"secret": "c"}, "y.z": {"secret": "d"}},
        "deep": {"er": [{"tokenSecretRef": {"name": "e", "key": "k"}}]},
        "list": ["f", 3, "g"],
    },
    "parameters": {"example.com/name": "h"},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.tls[].secretName", [("spec.tls[0].secretName", "a")]),
        (
            "spec.users{}.secret",
            [("spec.users.x.secret", "c"), ('spec.users["y.z"].secret', "d")],
        ),
        ("spec.**.tokenSecretRef.name", [("spec.deep.er[0].tokenSecretRef.name", "e")]),
        ("spec.**.*SecretRef.name", [("spec.deep.er[0].tokenSecretRef.name", "e")]),
        ("spec.list[]", [("spec.list[0]", "f"), ("spec.list[2]", "g")]),
        ("parameters.'example.com/name'", [('parameters["example.com/name"]', "h")]),
        ("spec.tls.secretName", []),
        ("spec.users[].secret", []),
        ("spec.nothing", []),
    ],
)
def test_a_path_leads_to_texts(path: str, expected: list[tuple[str, str]]) -> None:
    assert [(place, text) for place, text, _ in texts_at(DOCUMENT, path)] == expected


def test_the_mapping_around_a_text_comes_with_it() -> None:
    ((_, _, around),) = texts_at(DOCUMENT, "spec.**.tokenSecretRef.name")

    assert around == {"name": "e", "key": "k"}


@pytest.mark.parametrize("text", ["a", "a.b", "a[].b{}", "a.**.*Ref.name", "a.'x.y/z'"])
def test_what_is_a_path(text: str) -> None:
    assert is_path(text)


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", "[]", "a[0]", "a['b']", "a{b}"])
def test_what_is_no_path(text: str) -> None:
    assert not is_path(text)


def test_a_path_whose_steps_no_member_has_leads_nowhere() -> None:
    names = member_names(DOCUMENT)

    assert "tokenSecretRef" in names
    assert may_lead_somewhere("spec.**.*SecretRef.name", names)
    assert may_lead_somewhere("parameters.'example.com/name'", names)
    assert not may_lead_somewhere("spec.**.*MapRef.name", names)
    assert not may_lead_somewhere("spec.tls[].other", names)
