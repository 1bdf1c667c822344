"""kustomize and Helm are the user's own programs; what they say is told."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import HelmChart, Sources
from reflet.manifests.rendering import rendered_texts

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that is all of PATH but for the shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def kustomization(folder: Path) -> Path:
    target = folder / "app"
    target.mkdir()
    (target / "kustomization.yaml").write_text("resources: []\n")
    return target


@pytest.mark.parametrize(
    ("name", "arguments"), [("kustomize", "build {}"), ("kubectl", "kustomize {}")]
)
def test_either_program_renders_a_folder(
    tmp_path: Path, programs: Path, name: str, arguments: str
) -> None:
    target = kustomization(tmp_path)
    program(programs, name, 'echo "# $@"')

    (text,) = rendered_texts(Sources(kustomizations=(str(target),)))

    assert text.name == f"{target}/kustomization.yaml (rendered)"
    assert text.content.decode() == f"# {arguments.format(target)}\n"
    assert text.folder == ""


def test_what_a_program_complains_about_is_told(tmp_path: Path, programs: Path) -> None:
    target = kustomization(tmp_path)
    program(programs, "kustomize", "echo 'no such\n  base' >&2; exit 3")

    with pytest.raises(ConfigurationError) as caught:
        list(rendered_texts(Sources(kustomizations=(str(target),))))

    assert str(caught.value) == f"kustomize build {target} failed with exit code 3: no such base"


def test_notes_before_a_complaint_leave_room_for_it(programs: Path) -> None:
    note = "walk.go:74: found symbolic link in path: /chart/library"
    lines = "; ".join([*[f"echo '{note}'"] * 20, "echo 'Error: no values'", "exit 1"])
    program(programs, "helm", f"exec >&2; {lines}")

    with pytest.raises(ConfigurationError) as caught:
        list(rendered_texts(Sources(charts=(HelmChart("chart"),))))

    assert str(caught.value) == "helm template chart failed with exit code 1: Error: no values"


def test_programs_that_are_not_there_are_asked_for(tmp_path: Path, programs: Path) -> None:
    target = kustomization(tmp_path)

    with pytest.raises(ConfigurationError, match="needs kustomize or kubectl on PATH"):
        list(rendered_texts(Sources(kustomizations=(str(target),))))
    with pytest.raises(ConfigurationError, match=r"chart \./chart needs helm on PATH"):
        list(rendered_texts(Sources(charts=(HelmChart("./chart"),))))


def test_a_folder_without_a_kustomization_is_not_handed_on(tmp_path: Path, programs: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no kustomization\.yaml there; -f reads"):
        list(rendered_texts(Sources(kustomizations=(str(tmp_path),))))


def test_a_chart_is_cut_into_its_templates(tmp_path: Path, programs: Path) -> None:
    chart = tmp_path / "chart"
    chart.mkdir()
    program(
        programs,
        "helm",
        f"""/bin/cat <<'END'
---
# Source: web/templates/a.yaml
{OBJECT}---
# Source: web/charts/sub/templates/b.yaml
{OBJECT}---
# Source: web/templates/a.yaml
{OBJECT}END""",
    )

    texts = list(rendered_texts(Sources(charts=(HelmChart(str(chart)),))))

    assert [text.name for text in texts] == [
        f"{chart}/templates/a.yaml (rendered)",
        f"{chart}/charts/sub/templates/b.yaml (rendered)",
    ]
    assert [text.content.count(b"kind: ConfigMap") for text in texts] == [2, 1]


def test_values_settings_and_the_namespace_are_told_to_helm(programs: Path) -> None:
    program(programs, "helm", 'printf "%s\\n" "$@"')
    chart = HelmChart("-odd", ("v.yaml",), ("a=b", "c=d"))

    (text,) = rendered_texts(Sources(charts=(chart,)), namespace="shop")

    assert text.content.decode().split() == [
        *("template", "--include-crds", "--namespace=shop", "--values=v.yaml"),
        *("--set=a=b", "--set=c=d", "./-odd"),
    ]


def test_a_program_that_cannot_start_is_one_line(tmp_path: Path, programs: Path) -> None:
    target = kustomization(tmp_path)
    program(programs, "kustomize", "")
    (programs / "kustomize").write_bytes(b"\x00not a program")

    with pytest.raises(ConfigurationError, match="could not be started: Exec format error"):
        list(rendered_texts(Sources(kustomizations=(str(target),))))
