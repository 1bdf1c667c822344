"""The flags that choose objects, of files or of a cluster, handed to a command as one choice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from reflet.cli.command import Function, with_options
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.options.file_options import HELM_SET, file_options

if TYPE_CHECKING:
    from reflet.manifests.files import Sources


def choice_options(
    choose: Callable[..., Any],
    argument: Callable[[Function], Function],
    *,
    selector_help: str,
    everywhere_help: str,
    helm_set: tuple[str, ...] = HELM_SET,
) -> Callable[[Function], Function]:
    """Give a command the flags; it is called with ``choice``, what *choose* makes of them.

    *argument* takes the ``arguments``, the words that are no flags.
    """
    options = (
        argument,
        file_options(helm_set=helm_set),
        click.option("-l", "--selector", default="", help=selector_help),
        click.option("-A", "--all-namespaces", is_flag=True, help=everywhere_help),
        connection_options,
    )

    def decorate(command: Function) -> Function:
        @functools.wraps(command)
        def with_choice(
            *,
            arguments: tuple[str, ...],
            connection: ConnectionChoice,
            files: Sources,
            selector: str,
            all_namespaces: bool,
            **values: Any,
        ) -> Any:
            choice = choose(
                arguments,
                connection,
                files=files,
                selector=selector,
                all_namespaces=all_namespaces,
            )
            return command(choice=choice, **values)

        return with_options(with_choice, options)

    return decorate
