"""A kustomization tells patches from objects, and names what it makes."""

from __future__ import annotations

from reflet.manifests.files import SourceText
from reflet.manifests.kustomizations import Kustomization, read_kustomization


def read(text: str) -> Kustomization:
    return read_kustomization(SourceText("apps/web/kustomization.yaml", text.encode(), "apps/web"))


def test_every_way_to_name_a_patch_is_known() -> None:
    found = read(
        """
        resources: [deployment.yaml, ../base]
        patches: [{path: one.yaml}, {patch: "- op: add"}]
        patchesStrategicMerge:
        - two.yaml
        - |
          kind: Deployment
        patchesJson6902: [{path: ../three.yaml, target: {kind: Deployment, name: web}}]
        replacements: [{path: four.yaml}]
        configurations: [five.yaml]
        transformers: [six.yaml]
        generators: [seven.yaml]
        openapi: {path: eight.json}
        helmCharts: [{name: c, valuesFile: nine.yaml, additionalValuesFiles: [ten.yaml]}]
        """
    )

    names = ("one", "two", "four", "five", "six", "seven", "nine", "ten")
    assert found.patches == {
        *(f"apps/web/{name}.yaml" for name in names),
        "apps/three.yaml",
        "apps/web/eight.json",
    }
    assert found.inputs == ("apps/web/deployment.yaml", "apps/base")


def test_generators_name_what_they_make() -> None:
    found = read("configMapGenerator: [{name: a}, {}]\nsecretGenerator: [{name: b}]")

    assert found.made == {("ConfigMap", "a"), ("Secret", "b")}


def test_what_cannot_be_understood_says_nothing() -> None:
    assert read("resources: 7\nhelmCharts: [x]") == Kustomization()
    assert read("patches: {no: list}").patches == frozenset()
    assert read("patches: [") == Kustomization()
