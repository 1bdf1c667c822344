"""The flags that name manifests become one thing."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from reflet.cli.options.file_options import file_options
from reflet.manifests.files import HelmChart, Sources


def parsed(*arguments: str, **options: Any) -> Any:
    found: list[Sources] = []

    @click.command()
    @file_options(**options)
    def command(files: Sources) -> None:
        found.append(files)

    result = CliRunner().invoke(command, arguments)
    return found[0] if found else result.output


def test_nothing_named_is_nothing() -> None:
    assert not parsed()


def test_every_flag_has_its_place() -> None:
    found = parsed(
        *("-f", "a.yaml", "-f", "-", "-k", "overlay", "--include", "*.yaml", "--exclude", "test*"),
        *("--helm", "chart", "--values", "v.yaml", "--set", "a=b"),
    )

    assert found == Sources(
        paths=("a.yaml", "-"),
        kustomizations=("overlay",),
        charts=(HelmChart("chart", ("v.yaml",), ("a=b",)),),
        include=("*.yaml",),
        exclude=("test*",),
    )


@pytest.mark.parametrize(
    ("arguments", "recursive"),
    [
        ((), True),
        (("-R",), True),
        (("-R=false",), False),
        (("--recursive=false",), False),
        (("-R=true",), True),
    ],
)
def test_recursion_is_switched_as_kubectl_switches_it(
    arguments: tuple[str, ...], recursive: bool
) -> None:
    assert parsed("-f", "a", *arguments).recursive is recursive


def test_values_without_a_chart_are_a_mistake() -> None:
    assert "name it with --helm" in parsed("-f", "a", "--set", "a=b")
    assert "'maybe' is not a valid boolean" in parsed("-R=maybe")


def test_where_set_is_taken_helm_has_a_flag_of_its_own() -> None:
    assert "No such option" in parsed("--set", "a=b", helm_set=("--helm-set",))
    found = parsed("--helm", "c", "--helm-set", "a=b", helm_set=("--helm-set",))
    assert found.charts == (HelmChart("c", (), ("a=b",)),)
