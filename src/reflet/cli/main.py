"""The entry points ``reflet`` and ``kubectl-reflet``.

Here are the list of commands, and the one place where an error becomes a line on stderr and an
exit code.  A command is imported when it is called, so that ``reflet --help`` answers at once.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from reflet._version import __version__
from reflet.cli import lazy
from reflet.cli.command import GroupWithHelpPage
from reflet.cli.output import palette
from reflet.cli.output.output import HOME, noted_exit_code, say
from reflet.errors import (
    ApiError,
    ConfigurationError,
    CredentialsError,
    DecodeError,
    Forbidden,
    ParseError,
    RefletError,
    TransportError,
    Unauthorized,
)
from reflet.runtime.platforms import require_processes

GROUPS: Final = {
    "Look": {
        "env": "show the environment of a container, and its sources",
        "files": "list or write the files of a pod's volumes",
        "explain": "explain every variable and file of a pod",
        "refs": "list the ConfigMaps and Secrets that a pod names",
        "get": "show objects, as the server has them now",
        "ps": "show what runs on this machine, and what happens to it",
        "watch": "show objects as they change, through every outage",
    },
    "Diagnose": {
        "why": "explain why pods and workloads do not run, and what to do",
        "lint": "find in files what would fail at rollout",
        "diff": "show what changes in the environment and files of pods",
        "stale": "show which running containers still hold an old value",
        "used-by": "show who uses a ConfigMap or Secret, and who needs a restart",
        "unused": "show ConfigMaps, Secrets and keys that nothing uses",
        "rbac": "print the least rights that reading a pod's settings needs",
    },
    "Run": {
        "run": "run a process with the environment and files of a container",
        "node": "run the pods of a node as processes, as a kubelet does",
        "sidecar": "write labelled ConfigMaps and Secrets to files, and reload",
    },
    "Develop": {
        "demo": "show what Reflet does in a few seconds, without a cluster",
        "serve": "serve a Kubernetes API for development and tests",
        "ui": "show a live page of who gets which configuration",
        "crd": "write Python classes from CustomResourceDefinitions",
    },
    "Other": {
        "api-resources": "list the kinds that the server has",
        "doctor": "show what works on this machine, and how to get the rest",
        "completion": "print the script that completes commands in a shell",
        "version": "show the versions of Reflet and of the server",
    },
}
"""Every command, with its purpose: short enough for one line of a usual terminal."""

COMMANDS: Final = {name: purpose for group in GROUPS.values() for name, purpose in group.items()}

NEED_PROCESSES: Final = frozenset({"demo", "node", "ps", "run", "serve", "sidecar", "ui"})
"""Commands that start processes, or keep files and sockets as Linux and macOS do."""

FINDINGS, USAGE, UNREACHABLE, FORBIDDEN = 1, 2, 3, 4
INTERRUPTED: Final = 130
YOUNG_OBJECTS: Final = 50_000  # that are made before the first look for cycles among them


class LazyCommands(GroupWithHelpPage):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's shape
        """Name every command."""
        return sorted(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's shape
        cmd_name: str,
    ) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in NEED_PROCESSES:
            require_processes(f"reflet {cmd_name}")
        name = cmd_name.replace("-", "_")
        command = getattr(importlib.import_module(f"reflet.cli.commands.{name}"), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"reflet.cli.commands.{name}.{name} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the one that was meant."""
        is_typed = not ctx.resilient_parsing  # else a shell asks how an unfinished line goes on
        if is_typed and args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = lazy.difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f", did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"unknown command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[click.shell_completion.CompletionItem[str]]:
        """Complete a command's name from the table above, without importing them."""
        return [
            *(
                lazy.shell_completion.CompletionItem(name, help=purpose)
                for name, purpose in COMMANDS.items()
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the flags; ``--help`` prints while they are parsed."""
        palette.choose("auto")
        with _until_nobody_reads(None):
            return super().make_context(
                info_name, args, parent, **{"color": palette.decided(), **extra}
            )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _until_nobody_reads(ctx):
            return super().invoke(ctx)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's shape
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands from the table above, without importing them."""
        widest = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<{widest}}", said) for name, said in commands.items()])


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    epilog=f"Flags and examples: reflet COMMAND --help.  Documentation: {HOME}",
)
@click.version_option(__version__, prog_name="reflet", message="%(prog)s %(version)s")
@click.pass_context
def reflet(ctx: click.Context) -> None:
    """Gives any process the environment and files of a pod, and explains both.

    Start with: reflet demo
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    # Modules are not garbage: looking for cycles among them is a tenth of a short command.
    gc.set_threshold(YOUNG_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that has no letter for something gets its number.
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv)
    gc.freeze()  # nor are they looked through once more at the end
    sys.exit(code)


def run(argv: list[str]) -> int:
    """Run one command line; the answer is the exit code.

    0 is success, 1 findings or a refusal by the server, 2 a mistake in flags, files or names,
    3 a server that cannot be reached or answers 401 Unauthorized, 4 one that answers 403 Forbidden.
    """
    try:
        code = reflet.main(args=argv[1:], prog_name=program_name(argv[0]), standalone_mode=False)
    except click.ClickException as error:
        _fail(f"{error.format_message()}{_usage_hint(error)}")
        return USAGE
    except click.exceptions.Abort:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except RefletError as error:
        _fail(message_of(error))
        return exit_code(error)
    except OSError as error:
        # Most often the disk that the output goes to is full.
        _drop_output()
        words = error.strerror or str(error)
        _fail(f"{error.filename}: {words}" if error.filename else words)
        return FINDINGS
    return code if isinstance(code, int) else 0


def program_name(path: str) -> str:
    """The command as its user typed it: ``kubectl reflet`` when kubectl called us."""
    return "kubectl reflet" if Path(path).name.startswith("kubectl-") else "reflet"


def message_of(error: RefletError) -> str:
    """What is said about an error: its own words, and what to do where they do not tell."""
    if isinstance(error, Unauthorized):
        return f"{error} (HTTP 401): check your credentials, or log in again"
    return str(error)


def exit_code(error: RefletError) -> int:
    """The exit code that tells a script what kind of failure it was."""
    match error:
        case Forbidden():
            return FORBIDDEN
        case Unauthorized() | CredentialsError() | TransportError():
            return UNREACHABLE
        case ConfigurationError() | ParseError() | DecodeError():
            return USAGE
        case ApiError():
            return FINDINGS
        case _:
            return FINDINGS


def _fail(message: str) -> None:
    say(message, level="error")


@contextmanager
def _until_nobody_reads(ctx: click.Context | None) -> Iterator[None]:
    """End well when whoever read our output has enough, as in ``reflet get cm | head -1``.

    The exit code is the one that the command has noted with ``ends_with`` before it printed.
    """
    try:
        yield
    except BrokenPipeError as error:
        _drop_output()
        code = 0 if ctx is None else noted_exit_code(ctx)
        raise click.exceptions.Exit(code) from error


def _drop_output() -> None:
    """Keep Python from complaining while it flushes, at its end, what nobody can get."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # nobody reads it, or the disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage_hint(error: click.ClickException) -> str:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f" (see {error.ctx.command_path} --help)"
    return ""
