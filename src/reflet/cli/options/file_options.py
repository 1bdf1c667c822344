"""The flags of every command that reads manifests: files, folders, kustomizations and charts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import Function, file_option, with_options
from reflet.cli.options.arguments import FILE_NAME, Text

if TYPE_CHECKING:
    from reflet.manifests.files import Sources

HELM_SET: Final = ("--set", "--helm-set")
READ_THESE: Final = "Read these objects, YAML or JSON, and ask no server; repeatable."


class Switch(Text):
    """``true`` or ``false`` behind a flag, also as kubectl writes it: ``-R=false``."""

    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the word, with the sign of equality that click leaves before it."""
        return click.BOOL.convert(str(value).removeprefix("="), param, ctx)


def file_options(
    purpose: str = READ_THESE, *, helm_set: tuple[str, ...] = HELM_SET
) -> Callable[[Function], Function]:
    """Give a command the flags; it is called with ``files``, which are ``Sources``.

    *helm_set* are the names of the flag for Helm's settings, where ``--set`` is taken.
    """
    options = (
        file_option(
            "-f",
            "--filename",
            "paths",
            multiple=True,
            type=FILE_NAME,
            metavar="FILE|FOLDER|-",
            help=purpose,
        ),
        file_option(
            "-k",
            "--kustomize",
            "kustomizations",
            multiple=True,
            type=FILE_NAME,
            metavar="FOLDER",
            help="Read the output of kustomize, or kubectl kustomize, for this folder.",
        ),
        file_option(
            "--helm",
            "charts",
            multiple=True,
            type=FILE_NAME,
            metavar="CHART",
            help="Read the output of helm template for this chart.",
        ),
        file_option(
            "--values",
            "values_files",
            multiple=True,
            type=FILE_NAME,
            metavar="FILE",
            help="With --helm: a file with values.",
        ),
        file_option(
            *helm_set,
            "chart_settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="With --helm: a value.",
        ),
        file_option(
            "--include",
            multiple=True,
            metavar="GLOB",
            help="In folders, only these files: *.yaml, deploy/*.",
        ),
        file_option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="In folders, not these files: testdata, *.tmpl.yaml.",
        ),
        file_option(
            "-R",
            "--recursive",
            is_flag=False,
            flag_value="true",
            default="true",
            type=Switch(),
            metavar="BOOLEAN",
            help="-R=false: do not read subfolders.",
        ),
    )

    def decorate(command: Function) -> Function:
        @functools.wraps(command)
        def with_files(*arguments: Any, **values: Any) -> Any:
            return command(*arguments, files=_sources(values), **values)

        return with_options(with_files, options)

    return decorate


def _sources(values: dict[str, Any]) -> Sources:
    charts, files = values.pop("charts"), values.pop("values_files")
    settings = values.pop("chart_settings")
    if (files or settings) and not charts:
        raise click.UsageError("--values and --set are for a chart: name it with --helm")
    files_module = lazy.manifest_files
    return files_module.Sources(
        paths=values.pop("paths"),
        kustomizations=values.pop("kustomizations"),
        charts=tuple(files_module.HelmChart(chart, files, settings) for chart in charts),
        include=values.pop("include"),
        exclude=values.pop("exclude"),
        recursive=values.pop("recursive"),
    )
