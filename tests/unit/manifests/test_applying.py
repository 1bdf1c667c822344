"""Which definition of a kind an object means, where a repository holds several."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.manifests.applied import AppliedManifests
from reflet.manifests.applying import read_applied
from reflet.manifests.manifest_documents import Because
from tests.tills import TILL, till_definition
from tests.unit.manifests.texts import applied


def till(field: str) -> str:
    return f"{TILL}spec: {{{field}: red}}\n"


def defining(field: str) -> str:
    return till_definition(f"{{type: object, properties: {{{field}: {{type: string}}}}}}")


def in_folders(folder: Path, texts: dict[str, str]) -> AppliedManifests:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_applied([str(folder)])


def test_an_object_of_a_folder_means_the_nearest_definition(tmp_path: Path) -> None:
    found = in_folders(
        tmp_path,
        {
            "v1/definition.yaml": defining("size"),
            "v1/new.yaml": till("colour"),
            "v2/definition.yaml": defining("colour"),
            "v2/new.yaml": till("colour"),
            "v3/definition.yaml": defining("shape"),
        },
    )

    (refusal,) = found.refusals
    assert refusal.place == f"{tmp_path}/v1/new.yaml:1"
    assert 'unknown field "spec.colour"' in refusal.message


def test_of_equally_near_definitions_one_that_takes_the_object_is_enough(tmp_path: Path) -> None:
    found = in_folders(
        tmp_path,
        {
            "v1/definition.yaml": defining("size"),
            "v2/definition.yaml": defining("colour"),
            "samples/old.yaml": till("size"),
            "samples/new.yaml": till("colour"),
            "samples/wrong.yaml": till("weight"),
        },
    )

    (refusal,) = found.refusals
    assert refusal.place == f"{tmp_path}/samples/wrong.yaml:1"


def test_what_kustomize_changes_gives_way_to_another_definition(tmp_path: Path) -> None:
    kustomization = "resources: [raw.yaml]\nimages: [{name: a, newTag: b}]\n"
    found = in_folders(
        tmp_path,
        {
            "raw/raw.yaml": defining("size"),
            "raw/kustomization.yaml": kustomization,
            "whole/definition.yaml": defining("colour"),
            "samples/old.yaml": till("size"),
        },
    )

    (refusal,) = found.refusals
    assert 'unknown field "spec.size"' in refusal.message


def test_of_definitions_that_are_named_together_the_last_counts(tmp_path: Path) -> None:
    found = applied(tmp_path, defining("size"), defining("colour"), till("size"))

    (refusal,) = found.refusals
    assert 'unknown field "spec.size"' in refusal.message


@pytest.mark.parametrize("host", ["__INGRESS_HOST__", "RELEASE-NAME.example.com"])
def test_an_object_that_waits_for_its_words_is_a_template_in_a_folder(
    tmp_path: Path, host: str
) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\n"
        f"spec: {{rules: [{{host: {host}}}]}}\n"
    )

    applied = read_applied([str(tmp_path)])

    assert (applied.objects, applied.refusals) == ((), ())
    assert [each.because for each in applied.skipped] == [Because.TEMPLATE]
