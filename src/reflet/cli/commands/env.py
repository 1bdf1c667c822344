"""``reflet env``: the environment that a container gets, with where each variable comes from."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.pod_options import PodChoice, choose_container, pod_options, tell_default
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import ends_with, print_document, say, visible_lines

if TYPE_CHECKING:
    from reflet.api.core.pods import Pod
    from reflet.resolution.pod_inputs import Needs
    from reflet.resolution.references.references import Reference

FORMS: Final = ("table", "wide", "json", "yaml", "dotenv", "sh", "docker")


@command(
    examples={
        "reflet env deploy/web": "the environment of a pod of this Deployment",
        "reflet env -f web.yaml -c web": "of files, as if they were applied",
        "reflet env pod/web-1 -o dotenv > .env": "for programs that read dotenv files",
    },
)
@pod_options
@click.option("-c", "--container", default="", help="Container.  [default: as kubectl chooses]")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--reveal", is_flag=True, help="Show the values of Secrets.")
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that cannot be names of variables, as Kubernetes 1.19 did.",
)
@click.option("--services", is_flag=True, help="List the variables of services as well.")
@verbose_option
def env(
    choice: PodChoice,
    container: str,
    output: str,
    reveal: bool,
    services: bool,
    verbose: bool,
    no_headers: bool,
    skip_invalid_names: bool,
) -> int:
    """Show the environment of a container, and its sources.

    The pod is one of the cluster, or with -f one of the files, read as if they were applied.  A
    workload stands for a pod of its template.

    Values of Secrets are masked; --reveal shows them.  Without it, dotenv, sh and docker leave
    them out.  The table has one row for the variables of all services, which --services lists,
    and is cut to fit the terminal unless it is wide.  Problems are on stderr, below the table.

    Exit code 1: the kubelet would not start the container.
    """
    inputs = choice.gather(_needs(container, choice.target))
    inputs = dataclasses.replace(inputs, skip_invalid_names=skip_invalid_names)
    chosen = choose_container(inputs.pod, container, owner=inputs.target)
    if not container:
        tell_default(inputs.pod, chosen)
    environment = inputs.environment(chosen)
    code = ends_with(0 if environment.error is None else 1)
    said, shown = lazy.problem_output, lazy.environment_output
    fixes = said.fixes_for(inputs, environment.problems, [environment])
    if output in {"json", "yaml"}:
        document = shown.environment_document(inputs, environment, fixes, reveal=reveal)
        print_document(document, output)
        return code
    said.tell_few(said.surroundings(inputs), verbose=verbose)
    if output in {"table", "wide"}:
        shown.print_environment(
            environment,
            reveal=reveal,
            no_headers=no_headers,
            services=services,
            wide=output == "wide",
        )
    elif environment.error is None:  # nobody is given half an environment
        _print_file(shown.written(environment, output, reveal=reveal))
    if not environment.variables and not environment.problems:
        say(f"container {chosen} has no variables")
    said.tell_few(said.notices_of(environment.problems, fixes=fixes), verbose=verbose)
    if environment.error is not None:
        said.tell("error", f"container {chosen} would not start")
    return code


def _print_file(data: bytes) -> None:
    """Print what programs read, byte by byte; a terminal gets nothing that has power over it."""
    if sys.stdout.isatty():
        click.echo(visible_lines(data.decode(errors="backslashreplace")), nl=False)
    else:
        click.echo(data, nl=False)


def _needs(container: str, owner: str) -> Needs:
    usages = {lazy.references.Usage.ENV, lazy.references.Usage.ENV_FROM}

    def of_the_container(pod: Pod, reference: Reference) -> bool:
        if reference.usage not in usages:
            return False
        return reference.place.container == choose_container(pod, container, owner=owner)

    return lazy.pod_inputs.Needs(references=of_the_container)
