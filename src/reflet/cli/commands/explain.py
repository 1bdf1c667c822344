"""``reflet explain``: every variable and file of a pod as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import ends_with, print_document

if TYPE_CHECKING:
    from reflet.api.core.pods import Pod
    from reflet.resolution.pod_inputs import Needs
    from reflet.resolution.references.references import Reference

FORMS: Final = ("tree", "json", "yaml")


@command(
    examples={
        "reflet explain deploy/web": "a tree of all containers and volumes",
        "reflet explain -f web.yaml -c web": "one container of a file",
    },
)
@pod_options
@click.option("-c", "--container", default="", help="Only this container.  [default: all]")
@click.option("-o", "--output", type=click.Choice(FORMS), default="tree", show_default=True)
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
@click.option("--services", is_flag=True, help="List the variables of services as well.")
@verbose_option
def explain(
    choice: PodChoice, container: str, output: str, reveal: bool, services: bool, verbose: bool
) -> int:
    """Explain every variable and file of a pod.

    For each: its value, its source, what it shadows, how $(NAME) was expanded, and whether a
    change of the source needs a restart.  One branch stands for the variables of all services,
    which --services lists.

    Exit code 1: something would not start.
    """
    inputs = choice.gather(_needs(container))
    result = lazy.explain.explain(inputs, container)
    code = ends_with(0 if result.would_start else 1)
    said, shown = lazy.problem_output, lazy.explain_output
    if output == "tree":
        said.tell_few(said.surroundings(inputs), verbose=verbose)
        for line in shown.tree_of(inputs, result, reveal=reveal, services=services):
            click.echo(line)
    else:
        print_document(shown.explained_document(inputs, result, reveal=reveal), output)
    return code


def _needs(container: str) -> Needs:
    usage = lazy.references.Usage

    def shown(_: Pod, reference: Reference) -> bool:
        if reference.usage is usage.VOLUME:
            return True
        in_environment = reference.usage in {usage.ENV, usage.ENV_FROM}
        return in_environment and container in {"", reference.place.container}

    return lazy.pod_inputs.Needs(references=shown, bundles=True)
