"""``reflet completion``: the script that lets a shell complete our command line.

What is completed follows from the commands themselves; nothing here asks a server, so that Tab
answers at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

import click

from reflet.cli import lazy
from reflet.cli.main import reflet

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem, ShellComplete

SHELLS: Final = ("bash", "fish", "zsh")
PROGRAM: Final = "reflet"
VARIABLE: Final = "_REFLET_COMPLETE"
"""What the script sets when it asks; click's convention for the name of the program."""

# What kubectl is to do with the words: offer no files, or nothing but files.
NO_FILES, FILES = 4, 0


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands and flags.

    \b
    bash  source <(reflet completion bash)
    zsh   source <(reflet completion zsh)
    fish  reflet completion fish | source
    """
    click.echo(_completer(shell).source(), nl=False)


def kubectl() -> NoReturn:
    """Answer ``kubectl reflet … <Tab>``: the program ``kubectl_complete-reflet``.

    kubectl hands over what was typed behind ``kubectl reflet``, the unfinished word last and
    empty if need be.  It reads a word a line, with its description behind a tab, and in the last
    line what to do with them.
    """
    *words, unfinished = sys.argv[1:] or [""]
    found = _completer("fish").get_completions(words, unfinished)
    if any(item.type in {"file", "dir"} for item in found):
        click.echo(f":{FILES}")
    else:
        for item in found:
            click.echo(_for_kubectl(item))
        click.echo(f":{NO_FILES}")
    sys.exit(0)


def _for_kubectl(item: CompletionItem[str]) -> str:
    words = " ".join((item.help or "").split())
    return f"{item.value}\t{words}" if words else item.value


def _completer(shell: str) -> ShellComplete:
    found = lazy.shell_completion.get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click cannot complete for {shell}")
    return found(reflet, {}, PROGRAM, VARIABLE)
