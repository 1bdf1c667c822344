"""What a person means by ``TYPE/NAME``, ``TYPE NAME`` or ``TYPE``.

Owns: the reading of targets as kubectl reads them.  Must not know which types a server has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click


class Target(NamedTuple):
    """A type, as it was typed, and the name of one object or None for all of them."""

    type: str
    name: str | None


def parse_targets(arguments: Sequence[str]) -> list[Target]:
    """Read ``cm``, ``cm a b``, ``cm,secret`` or ``cm/a secret/b``; the forms do not mix."""
    if not arguments:
        raise click.UsageError("name the type of the objects, as in: configmaps, cm/NAME")
    if any("/" in argument for argument in arguments):
        return [_slashed(argument) for argument in arguments]
    types, names = arguments[0].split(","), arguments[1:]
    if not all(types):
        raise click.UsageError(f"an empty type in {arguments[0]!r}")
    if not all(names):
        raise click.UsageError("an empty name: is a variable not set?")
    if not names:
        return [Target(kind, None) for kind in types]
    return [Target(kind, name) for kind in types for name in names]


def _slashed(argument: str) -> Target:
    kind, slash, name = argument.partition("/")
    if not slash:
        raise click.UsageError(
            f"{argument!r} has no name beside arguments that have one: write TYPE/NAME for each"
        )
    if not kind or not name or "/" in name or "," in argument:
        raise click.UsageError(f"{argument!r} is not of the form TYPE/NAME")
    return Target(kind, name)
