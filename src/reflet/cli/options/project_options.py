"""The flags that choose ``.reflet.yaml``, or do without it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reflet.cli import lazy
from reflet.cli.command import Function, with_options
from reflet.cli.options.arguments import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from reflet.cli.options.project_file import ProjectFile

    ReadProject = Callable[[], ProjectFile]

_OPTIONS = (
    click.option(
        "--config",
        default="",
        type=FILE_NAME,
        metavar="FILE",
        help="The project's file.  [default: the nearest .reflet.yaml, up to the repository]",
    ),
    click.option("--no-config", is_flag=True, help="Ignore the project's file."),
)


def project_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``project``, a ProjectFile."""

    @functools.wraps(command)
    def with_project(*arguments: Any, read_project: ReadProject, **values: Any) -> Any:
        return command(*arguments, project=read_project(), **values)

    return late_project_options(with_project)


def late_project_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``read_project``, for when it needs it."""

    @functools.wraps(command)
    def with_reading(*arguments: Any, config: str, no_config: bool, **values: Any) -> Any:
        read_project = functools.partial(chosen_project, config, no_config=no_config)
        return command(*arguments, read_project=read_project, **values)

    return with_options(with_reading, _OPTIONS)


def chosen_project(config: str, *, no_config: bool) -> ProjectFile:
    """Read the file that is named, or the nearest; an empty one when there is none."""
    if config and no_config:
        raise click.UsageError("--config names a file and --no-config ignores it: leave out one")
    if no_config:
        return lazy.project_file.ProjectFile()
    file = Path(config) if config else lazy.project_file.find_project_file(Path.cwd())
    if file is None:
        return lazy.project_file.ProjectFile()
    return lazy.project_file.read_project_file(file)
