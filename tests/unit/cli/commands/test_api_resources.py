"""``reflet api-resources``: the kinds that a server serves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal


def served(plural: str, kind: str, scope: str, *short_names: str) -> Mapping[str, Any]:
    return {
        "resource": plural,
        "responseKind": {"kind": kind},
        "scope": scope,
        "shortNames": short_names,
    }


def group(name: str, *resources: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {"metadata": {"name": name}, "versions": [{"version": "v1", "resources": resources}]}
        ],
    }


def api() -> ScriptedApi:
    return ScriptedApi(
        {
            "/api": group(
                "",
                served("configmaps", "ConfigMap", "Namespaced", "cm"),
                served("nodes", "Node", "Cluster", "no"),
            ),
            "/apis": group("apps", served("deployments", "Deployment", "Namespaced", "deploy")),
        }
    )


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    with api().serving() as serving:
        assert reflet(serving, "api-resources", *arguments) == 0
    return capsys.readouterr().out.splitlines()


def test_kinds_are_shown_as_kubectl_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys) == [
        "NAME          SHORTNAMES   APIVERSION   NAMESPACED   KIND",
        "configmaps    cm           v1           true         ConfigMap",
        "nodes         no           v1           false        Node",
        "deployments   deploy       apps/v1      true         Deployment",
    ]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["configmaps", "nodes", "deployments.apps"]),
        (("--api-group", "apps"), ["deployments.apps"]),
        (("--api-group", ""), ["configmaps", "nodes"]),
        (("--namespaced", "true"), ["configmaps", "deployments.apps"]),
        (("--namespaced", "false"), ["nodes"]),
        (("--api-group", "apps", "--namespaced", "false"), []),
    ],
)
def test_names_can_be_chosen(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], names: list[str]
) -> None:
    assert shown(capsys, "-o", "name", *arguments) == names


def test_headings_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(shown(capsys, "--no-headers")) == 3


def test_programs_get_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads("\n".join(shown(capsys, "-o", "json", "--namespaced", "false")))

    assert document == [
        {
            "name": "nodes",
            "shortNames": ["no"],
            "apiVersion": "v1",
            "namespaced": False,
            "kind": "Node",
        }
    ]


def test_yaml_is_the_same_document(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "-o", "yaml", "--namespaced", "false")

    assert lines == [
        "- apiVersion: v1",
        "  kind: Node",
        "  name: nodes",
        "  namespaced: false",
        "  shortNames:",
        '  - "no"',
    ]


def test_a_refusal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    denied = refusal(403, "Forbidden", "not you")
    with ScriptedApi({"/api": denied, "/apis": denied}).serving() as serving:
        assert reflet(serving, "api-resources") == 4

    assert capsys.readouterr().err == "error: not you\n"
