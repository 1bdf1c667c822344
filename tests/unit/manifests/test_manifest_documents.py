"""Which documents are manifests: what was named must be, what lies in a folder may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import DecodeError
from reflet.manifests.files import Sources, SourceText
from reflet.manifests.manifest_documents import (
    Because,
    DocumentReader,
    Skipped,
    is_placeholder,
    skipped_summary,
)

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


class Read:
    def __init__(self, folder: Path, files: dict[str, str], *paths: str) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        named = tuple(str(folder / path) for path in paths) or (str(folder),)
        self.texts: list[SourceText] = []
        self.reader = DocumentReader(Sources(paths=named), on_text=self.texts.append)
        self.sources = [
            str(Path(each.source).relative_to(folder)) for each in self.reader.documents()
        ]
        self.skipped: dict[str, Because] = {
            str(Path(each.file).relative_to(folder)): each.because for each in self.reader.skipped
        }


def test_what_is_no_manifest_is_left_out_of_a_folder(tmp_path: Path) -> None:
    read = Read(
        tmp_path,
        {
            "a.yaml": OBJECT,
            "Chart.yaml": "apiVersion: v2\nname: c\ndescription: of no kind\n",
            "values.yaml": "image: {tag: 1}\n",
            "docker-compose.yml": "services: {web: {image: a}}\n",
            "package.json": '{"name": "web", "kind": 1, "apiVersion": 2}',
            "list.yaml": "- apiVersion: v1\n- kind: x\n",
            "empty.yaml": "",
            "kind.yaml": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n",
            "config.yaml": "apiVersion: v1\nkind: Config\nclusters: []\n",
        },
    )

    assert read.sources == ["a.yaml"]
    assert set(read.skipped) == {
        *("Chart.yaml", "values.yaml", "docker-compose.yml", "package.json"),
        *("list.yaml", "empty.yaml", "kind.yaml", "config.yaml"),
    }
    assert set(read.skipped.values()) == {Because.NO_MANIFEST}


def test_what_a_test_asserts_is_left_out_of_a_folder(tmp_path: Path) -> None:
    asserted = {
        *("e2e/00-assert.yaml", "e2e/01-errors.yml", "e2e/02-assert-web.yaml"),
        *("saw/assert.yaml", "saw/error.yaml", "saw/web-assert.yaml", "saw/assert-web-2.yaml"),
    }
    others = {"assert.yaml", "e2e/00-install.yaml", "e2e/errors-page.yaml", "e2e/1-asserted.yaml"}
    read = Read(
        tmp_path,
        dict.fromkeys((*asserted, *others, "saw/web.yaml", "saw/chainsaw-test.yaml"), OBJECT),
    )

    assert set(read.sources) == {*others, "saw/web.yaml", "saw/chainsaw-test.yaml"}
    assert read.skipped == dict.fromkeys(asserted, Because.ASSERTION)
    assert skipped_summary(read.reader.skipped[:1]).startswith("skipped 1 file: 1 assertion of a")
    # What is given by name is read.
    assert Read(tmp_path, {}, "e2e/00-assert.yaml").sources == ["e2e/00-assert.yaml"]


def test_what_was_named_must_be_a_manifest(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match=r"values\.yaml:1: apiVersion is missing"):
        Read(tmp_path, {"values.yaml": "image: {tag: 1}\n"}, "values.yaml")
    with pytest.raises(DecodeError, match=r"bad\.yaml:1: kind is missing"):
        Read(tmp_path, {"bad.yaml": "apiVersion: v1\n"}, "bad.yaml")


def test_templates_of_charts_are_told_with_their_chart(tmp_path: Path) -> None:
    files = {
        "web/Chart.yaml": "apiVersion: v2\nname: web\n",
        "web/templates/deployment.yaml": "kind: {{ .Values.kind }}\napiVersion: v1\n",
        "web/templates/deep/plain.yaml": OBJECT,
        "web/crds/crd.yaml": OBJECT,
        "templates/no-chart.yaml": OBJECT,
    }
    read = Read(tmp_path, files)

    assert read.sources == ["templates/no-chart.yaml", "web/crds/crd.yaml"]
    templates = [each for each in read.reader.skipped if each.because is Because.HELM_TEMPLATE]
    assert {each.owner for each in templates} == {str(tmp_path / "web")}
    assert len(templates) == 2
    # The chart is found from a folder of its templates, too.
    assert Read(tmp_path, {}, "web/templates").sources == []


def test_a_template_of_another_kind_is_one_by_its_braces(tmp_path: Path) -> None:
    read = Read(tmp_path, {"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {{ metadata }}\n"})

    assert read.skipped == {"a.yaml": Because.TEMPLATE}


def test_a_broken_manifest_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    read = Read(
        tmp_path, {"a.yaml": f"{OBJECT}data: {{a: [}}\n", "b.yaml": OBJECT, "c.yaml": "x: [kind\n"}
    )

    assert read.sources == ["b.yaml"]
    (unreadable,) = read.reader.unreadable
    assert (unreadable.file, unreadable.line) == (str(tmp_path / "a.yaml"), 4)
    assert "did not find expected" in unreadable.message
    assert read.skipped == {"c.yaml": Because.NO_MANIFEST}


def test_patches_of_kustomizations_are_no_objects(tmp_path: Path) -> None:
    read = Read(
        tmp_path,
        {
            "base/kustomization.yaml": "resources: [cm.yaml]\nconfigMapGenerator: [{name: made}]\n",
            "base/cm.yaml": OBJECT,
            "overlay/kustomization.yaml": "patches: [{path: patch.yaml}]\n",
            "overlay/patch.yaml": OBJECT,
            "part/component.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
            ),
        },
    )

    assert read.sources == ["base/cm.yaml"]
    assert read.skipped == dict.fromkeys(
        (
            *("base/kustomization.yaml", "overlay/kustomization.yaml", "overlay/patch.yaml"),
            "part/component.yaml",
        ),
        Because.KUSTOMIZE,
    )
    assert read.reader.made == {("ConfigMap", "made")}


def test_everybody_who_asks_is_told_every_text(tmp_path: Path) -> None:
    read = Read(tmp_path, {"a.yaml": OBJECT, "b.yaml": "x: 1\n"})

    assert [Path(each.name).name for each in read.texts] == ["a.yaml", "b.yaml"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((text, True) for text in ("{{ name }}", "${NAME}", "$NAME", "a-$(X)", "<your-name>")),
        *((text, True) for text in ("__HOST__", "a.__INGRESS_HOST2__.b", "RELEASE-NAME-web")),
        *((text, False) for text in ("web", "a$b", "a < b", "$", 7, None, "100%")),
        *((text, False) for text in ("__name__", "__HOST", "A__B", "LB_CIDR", "release-name")),
    ],
)
def test_placeholders_are_known_by_their_signs(value: object, expected: bool) -> None:
    assert is_placeholder(value) is expected


def test_the_summary_counts_names_and_says_what_to_do() -> None:
    skipped = [
        *(Skipped(f"a/templates/{name}.yaml", Because.HELM_TEMPLATE, "a") for name in "xy"),
        Skipped("b/kustomization.yaml", Because.KUSTOMIZE, "b"),
        *(Skipped(f"{name}.yaml", Because.KUSTOMIZE) for name in "ij"),
        *(Skipped(f"{name}.yaml", Because.NO_MANIFEST) for name in "cdefg"),
        Skipped("h.yaml", Because.TEMPLATE),
    ]

    assert skipped_summary(skipped) == (
        "skipped 11 files: 2 Helm templates (render it: --helm a); "
        "3 parts of kustomizations (as kustomize means it: -k b); 1 other template (h.yaml); "
        "5 that are no manifests (c.yaml, d.yaml, e.yaml and 2 more)"
    )
    assert skipped_summary([]) == ""
