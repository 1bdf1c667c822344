"""A command of this command line: its help page, and the flags that every command has.

A help page is what it does, examples, and its flags: its own first, then those about files and the
connection, which many commands share, and last those that all have.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import click

from reflet.cli.output import palette
from reflet.cli.output.output import LONGEST_LINE, wrapped
from reflet.cli.output.palette import paint

Function = Callable[..., Any]
"""What becomes a command: it is called with its flags by keyword."""

OWN, FILES, CONNECTION, GLOBAL = "Options", "Files", "Connection", "Global options"
GROUPS: Final = (OWN, FILES, CONNECTION, GLOBAL)

WIDEST_FLAG: Final = 30  # columns of a flag that its purpose stands beside, not below
WIDEST_EXAMPLE: Final = 46
SPACING: Final = 2

_NEXT_PARAGRAPH: Final = re.compile(r"\n\s*\n")


class FileOption(click.Option):
    """A flag about the files that are read."""

    group = FILES


class ConnectionOption(click.Option):
    """A flag that says which server is meant, and as whom."""

    group = CONNECTION


class GlobalOption(click.Option):
    """A flag that every command has."""

    group = GLOBAL


file_option = functools.partial(click.option, cls=FileOption)
connection_option = functools.partial(click.option, cls=ConnectionOption)


def with_options(function: Function, options: Sequence[Callable[[Function], Function]]) -> Function:
    """Give *function* the options, which its help page has in this order."""
    for option in reversed(options):
        function = option(function)
    return function


class HelpPage(click.HelpFormatter):
    """A help page with headings that stand out, and lines that end between words."""

    def write_heading(self, heading: str) -> None:
        """Begin a section."""
        self.write(" " * self.current_indent + paint(f"{heading}:", "title") + "\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = [" ".join(each.split()) for each in _NEXT_PARAGRAPH.split(text.strip())]
        lines = [
            "\n".join(wrapped(each, self.width, first=indent, indent=indent)) for each in paragraphs
        ]
        self.write("\n\n".join(lines) + "\n")

    def write_dl(
        self,
        rows: Iterable[tuple[str, str]],
        col_max: int = WIDEST_FLAG,
        col_spacing: int = SPACING,
    ) -> None:
        """Write terms and what they mean in two columns; a long term has a line of its own."""
        rows = list(rows)
        begin = min(max(len(term) for term, _ in rows), col_max) + col_spacing
        indent = " " * (self.current_indent + begin)
        for term, meaning in rows:
            lines = wrapped(meaning, self.width, first=indent, indent=indent)
            line = " " * self.current_indent + paint(term, "name")
            if lines and len(term) <= begin - col_spacing:
                line += lines.pop(0)[self.current_indent + len(term) :]
            self.write("\n".join([line, *lines]) + "\n")


class HelpContext(click.Context):
    """A context whose help page is a ``HelpPage``."""

    formatter_class = HelpPage


def _choose_colour(ctx: click.Context, _: click.Parameter, choice: str | None) -> None:
    if choice is not None and not ctx.resilient_parsing:
        palette.choose(choice)
        ctx.color = palette.decided()


class WithHelpPage(click.Command):
    """A command with a help page; *examples* are command lines, each with what it does."""

    context_class = HelpContext

    def __init__(
        self, *arguments: Any, examples: Mapping[str, str] | None = None, **attributes: Any
    ) -> None:
        attributes["context_settings"] = {
            "help_option_names": ["-h", "--help"],
            "max_content_width": LONGEST_LINE + SPACING,  # click leaves two columns free
            **(attributes.get("context_settings") or {}),
        }
        super().__init__(*arguments, **attributes)
        self.examples = dict(examples or {})
        self.params.append(
            GlobalOption(
                ["--color"],
                type=click.Choice(palette.CHOICES),
                is_eager=True,  # before --help prints
                expose_value=False,
                callback=_choose_colour,
                help="Colour the output; auto: on a terminal.  NO_COLOR and FORCE_COLOR count too.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and the flags in groups."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl(list(self.examples.items()), col_max=WIDEST_EXAMPLE)
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        usual = self.get_help_option(ctx)
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record is not None:
                group = GLOBAL if parameter is usual else getattr(parameter, "group", OWN)
                groups[group].append(record)
        for group, records in groups.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)


class GroupWithHelpPage(WithHelpPage, click.Group):
    """A command that has commands."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags, and before them the commands."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)


def command(
    name: str | None = None,
    *,
    examples: Mapping[str, str],
    cls: type[WithHelpPage] = WithHelpPage,
    **attributes: Any,
) -> Callable[[Function], WithHelpPage]:
    """Make a function a command, as ``click.command`` does, with *examples* on its help page."""
    return click.command(name, cls=cls, examples=examples, **attributes)
