"""What people type behind a command: ``TYPE/NAME`` as kubectl reads it, and names of files.

And what Tab makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from reflet.cli import lazy

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from reflet.cli.options.tab_words import Section, Types

    Text = click.ParamType[str]
else:
    Text = click.ParamType  # older versions of click have no types here


class ObjectTarget(NamedTuple):
    """A type, as it was typed, and the name of one object or None for all of them."""

    type: str
    name: str | None


def parse_targets(arguments: Sequence[str]) -> list[ObjectTarget]:
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
        return [ObjectTarget(kind, None) for kind in types]
    return [ObjectTarget(kind, name) for kind in types for name in names]


def _slashed(argument: str) -> ObjectTarget:
    kind, slash, name = argument.partition("/")
    if not slash:
        raise click.UsageError(
            f"{argument!r} has no name beside arguments that have one: write TYPE/NAME for each"
        )
    if not kind or not name or "/" in name or "," in argument:
        raise click.UsageError(f"{argument!r} is not of the form TYPE/NAME")
    return ObjectTarget(kind, name)


def host_and_port(text: str, flag: str, otherwise: str = "") -> tuple[str, int]:
    """Read ``HOST:PORT``, an IPv6 address in brackets; *otherwise* is what else *flag* takes."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.UsageError(f"{flag}: {text!r} is not HOST:PORT{otherwise}")
    return host.strip("[]"), int(port)


class FileName(Text):
    """A text that names a file or folder, which Tab completes.

    It stays the text it is, because ``-`` and names of files that do not exist yet are good too.
    """

    name = "file"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's shape
        param: click.Parameter,  # noqa: ARG002 - the same
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Leave it to the shell, which knows its files."""
        return [lazy.shell_completion.CompletionItem(incomplete, type="file")]


FILE_NAME: Final = FileName()


class ObjectWord(Text):
    """One of the words that name objects, ``TYPE``, ``NAME`` or ``TYPE/NAME``, for Tab."""

    name = "text"

    def __init__(self, types: Types) -> None:
        self._types = types

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Offer types, and names that the server or the files have."""
        before = ctx.params.get(str(param.name)) or ()
        return _items(lazy.tab_words.object_words(self._types, ctx.params, before, incomplete))


class NamespaceName(Text):
    """The name of a namespace, for Tab."""

    name = "text"

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's shape
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Offer those that the server has."""
        return _items(lazy.tab_words.namespace_words(ctx.params, incomplete))


class KubeconfigName(Text):
    """The name of a context, cluster or user of the kubeconfig, for Tab."""

    name = "text"

    def __init__(self, section: Section) -> None:
        self._section = section

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002 - click's shape
        incomplete: str,
    ) -> list[CompletionItem[str]]:
        """Offer those that the files have."""
        return _items(lazy.tab_words.kubeconfig_words(self._section, ctx.params, incomplete))


def _items(words: Sequence[str]) -> list[CompletionItem[str]]:
    return [lazy.shell_completion.CompletionItem(word) for word in words]
