"""``reflet completion``: the script that lets a shell complete our command line.

What is completed follows from the commands themselves, and from ``tab_words`` what of it is asked.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NoReturn

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.main import reflet

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem, ShellComplete

SHELLS: Final = ("bash", "fish", "zsh")
PROGRAM: Final = "reflet"
VARIABLE: Final = "_REFLET_COMPLETE"
"""What the script sets when it asks; click's convention for the name of the program."""

# What kubectl is to do with the words: offer no files, or nothing but files.
NO_FILES, FILES = 4, 0


# bash takes a line apart at colons and equals signs as well, and replaces the last part alone: so
# the line is handed over as it is, and of a word what stands before its last colon is left out.
# A line with quotes is left to bash, which knows where its words end.
BASH: Final = """\
%(complete_func)s() {
    local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} before="" response kind word
    local -a words
    read -ra words <<< "$line"
    case $line in
        *[\\"\\'\\\\]*) words=("${COMP_WORDS[@]:0:COMP_CWORD+1}") line="${words[*]}" ;;
        *[[:space:]]) words+=("") ;;
    esac
    local last=$((${#words[@]} - 1))
    if [[ $COMP_WORDBREAKS == *:* ]]; then
        local unfinished=${words[last]##*=}
        before=${unfinished%%"${unfinished##*:}"}
    fi
    response=$(env COMP_WORDS="$line" COMP_CWORD="$last" %(complete_var)s=bash_complete "$1")
    while IFS=, read -r kind word; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${word#"$before"}") ;;
        esac
    done <<< "$response"
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@command(
    examples={
        "source <(reflet completion bash)": "bash",
        "source <(reflet completion zsh)": "zsh",
        "reflet completion fish | source": "fish",
    }
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    It completes flags, names of objects, namespaces and files as well.  To have it in every
    shell, put the line into the shell's start-up file.
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
    if shell == "bash":
        found = type("Bash", (found,), {"source_template": BASH})
    return found(reflet, {}, PROGRAM, VARIABLE)
