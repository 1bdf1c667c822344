"""The names in a pod, held to the recorded visits of the real implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.devserver.authorization.pod_references import (
    config_references,
    first_need,
    references_of,
)

DATA = Path(__file__).parents[3] / "conformance" / "data" / "visit_pod_names.json"
RECORDED = json.loads(DATA.read_text())["cases"]


@pytest.mark.parametrize(("resource", "field"), [("configmaps", "configMaps"), ("secrets",) * 2])
@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_recorded_visits(case: dict[str, Any], resource: str, field: str) -> None:
    found = [name for what, name in config_references(case["pod"]) if what == resource]

    assert found == case[field]["visited"]


def pod(status: Any = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": spec, "status": status or {}}


def test_everything_that_a_node_reaches_through_a_pod() -> None:
    made = pod(
        serviceAccountName="robot",
        imagePullSecrets=[{"name": "pull"}],
        volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "disk"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        ],
        resourceClaims=[
            {"name": "a", "resourceClaimName": "gpu"},
            {"name": "b", "resourceClaimTemplateName": "template"},
            {"name": "c", "resourceClaimTemplateName": "later"},
        ],
        status={
            "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}],
            "extendedResourceClaimStatus": {"resourceClaimName": "extended"},
        },
    )

    assert list(references_of(made)) == [
        ("serviceaccounts", "robot"),
        ("secrets", "pull"),
        ("persistentvolumeclaims", "disk"),
        ("persistentvolumeclaims", "web-scratch"),
        ("resourceclaims.resource.k8s.io", "gpu"),
        ("resourceclaims.resource.k8s.io", "made"),
        ("resourceclaims.resource.k8s.io", "extended"),
    ]


@pytest.mark.parametrize(
    ("spec", "need"),
    [
        ({}, ""),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "w"}]}, ""),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"downwardAPI": {}}]}}]}, ""),
        ({"serviceAccountName": "a", "imagePullSecrets": [{"name": "b"}]}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "a"}]}, "secrets"),
        ({"volumes": [{"name": "v", "configMap": {"name": "a"}}]}, "configmaps"),
        (
            {"volumes": [{"name": "v", "configMap": {}}]},
            "configmaps (via configmap volumes)",
        ),
        ({"resourceClaims": [{"name": "a"}]}, "resourceclaims"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {}}]}}]},
            "serviceaccounts (via projected volumes)",
        ),
    ],
)
def test_what_a_pod_needs_of_the_server_first(spec: Any, need: str) -> None:
    assert first_need(pod(**spec)) == need


def test_a_projected_volume_without_a_known_source_is_told() -> None:
    with pytest.raises(ValueError, match='unknown source for projected volume "v"'):
        first_need(pod(volumes=[{"name": "v", "projected": {"sources": [{}]}}]))
