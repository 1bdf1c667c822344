"""``reflet sidecar``: labelled ConfigMaps and Secrets as files, and a reload after each change."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.main import exit_code, message_of
from reflet.errors import RefletError
from reflet.sidecar.sidecar_variables import VARIABLES

TRUE: Final = "true"


def _flags(function: Callable[..., None]) -> Callable[..., None]:
    """Give *function* a flag for each variable that may be one."""
    for variable in reversed(tuple(VARIABLES.values())):
        if not variable.on_command_line:
            continue
        shown = variable.shown_default
        words = f"{variable.about}  [default: {shown}]" if shown else variable.about
        names = (variable.flag, variable.name)
        if variable.is_flag:
            option = click.option(*names, is_flag=True, flag_value=TRUE, default=None, help=words)
        else:
            option = click.option(*names, default=None, help=words)
        function = option(function)
    return function


@command(
    examples={
        "reflet sidecar --label dashboard --folder /tmp/dashboards": "labelled objects as files",
    }
)
@_flags
@click.pass_context
def sidecar(context: click.Context, /, **given: Any) -> None:
    """Write labelled ConfigMaps and Secrets to files, and reload.

    A replacement for kiwigrid/k8s-sidecar with the same variables.  Each flag is a variable in
    lower case, and takes precedence over it.
    """
    settings = lazy.sidecar_settings.read_settings(
        os.environ, {name: text for name, text in given.items() if text is not None}
    )
    lazy.log_lines.set_up_logging(settings)
    try:
        lazy.event_loop.run(_run(settings))
    except RefletError as error:
        # Whoever reads the log of a container reads lines of one form.
        lazy.log_lines.logger.critical("%s", message_of(error))
        context.exit(exit_code(error))


async def _run(settings: Any) -> None:
    working = lazy.asyncio.ensure_future(lazy.running_sidecar.run_sidecar(settings, os.environ))
    is_told = False

    def stop(_: object) -> None:
        nonlocal is_told
        is_told = True
        working.cancel()

    lazy.stop_signals.when_told_to_stop(stop)
    try:
        await working
    except lazy.asyncio.CancelledError:
        if not is_told:
            raise
