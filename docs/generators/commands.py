"""The commands, as each explains itself.

Owns: turning the command line into Markdown.  Must not know any command.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from reflet.cli.main import COMMANDS, reflet

WIDTH: Final = 90  # columns of a help text on a page


def command_list() -> str:
    """List every command, with what it is for and where it is described."""
    lines = ["| command | what for |", "|---|---|"]
    lines += [
        f"| [`reflet {name}`](#reflet-{name}) | {purpose} |"
        for name, purpose in sorted(COMMANDS.items())
    ]
    return "\n".join(lines)


def markdown() -> str:
    """Describe every command: a section each, in the words of its ``--help``."""
    return "\n".join(_sections())


def help_text(name: str = "") -> str:
    """What ``reflet NAME --help`` prints; without a name, what ``reflet --help`` prints."""
    with reflet.context_class(reflet, info_name="reflet", **reflet.context_settings) as outer:
        outer.terminal_width = WIDTH
        if not name:
            return reflet.get_help(outer)
        command = reflet.get_command(outer, name)
        if command is None:
            raise LookupError(f"there is no command {name}")
        with command.context_class(command, info_name=name, parent=outer) as inner:
            inner.terminal_width = WIDTH
            return "\n\n".join([command.get_help(inner), *_parts(command, inner)])


def _parts(command: click.Command, context: click.Context) -> Iterator[str]:
    """The help of the commands inside a command."""
    for name, part in command.commands.items() if isinstance(command, click.Group) else ():
        with part.context_class(part, info_name=name, parent=context) as inner:
            inner.terminal_width = WIDTH
            yield part.get_help(inner)


def _sections() -> Iterator[str]:
    for name in sorted(COMMANDS):
        yield from ("", f"## reflet {name}", "")
        yield from ("```text", help_text(name), "```")
