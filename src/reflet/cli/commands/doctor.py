"""``reflet doctor``: what works on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.connection_options import connection_options
from reflet.cli.output.output import API_VERSION, ends_with, print_document, visible
from reflet.cli.output.palette import Meaning, paint

if TYPE_CHECKING:
    from reflet.transport.config.settings import ConnectionSettings

FINDINGS: Final = 1
_MEANINGS: Final[Mapping[str, Meaning]] = {"ok": "good", "limited": "caution", "broken": "wrong"}
_NAME, _STATE = 11, 9  # columns


@command(
    examples={
        "reflet doctor": "this machine, and the server of the current context",
        "reflet doctor -o json": "for a bug report: it has no secrets",
    }
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text")
@connection_options
def doctor(output: str, connection: Callable[[], ConnectionSettings]) -> int:
    """Show what works on this machine, and how to get the rest.

    Nothing is changed.  Exit code: 1 when something that is set up does not work, a server that
    does not answer for example; what is merely not there is a limit, and no failure.
    """
    checks = []
    for check in lazy.machine_checks.machine_checks(connection):
        checks.append(check)
        if output == "text":
            state = paint(check.state.ljust(_STATE), _MEANINGS[check.state])
            fix = paint(f" → {check.fix}", "good") if check.fix else ""
            click.echo(f"{check.name.ljust(_NAME)}{state}{visible(check.detail)}{fix}")
    code = FINDINGS if any(check.state == "broken" for check in checks) else 0
    ends_with(code)
    if output != "text":
        document = {
            "apiVersion": API_VERSION,
            "kind": "MachineReport",
            "checks": [asdict(check) for check in checks],
        }
        print_document(document, output)
    return code
