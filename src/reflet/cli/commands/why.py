"""``reflet why``: what keeps pods and workloads from running, and what to do."""

from __future__ import annotations

import click

from reflet.cli import lazy
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.options.why_options import WhyChoice, why_options
from reflet.cli.output.output import ends_with, print_document


@click.command()
@why_options
@click.option(
    "-o", "--output", type=click.Choice(("text", "json", "yaml")), default="text", show_default=True
)
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that are no names for variables, as Kubernetes 1.19 did.",
)
@verbose_option
def why(choice: WhyChoice, output: str, skip_invalid_names: bool, verbose: bool) -> int:
    """Say why pods and workloads do not run, and what to do.

    Without a name, everything in the namespace is looked at, with -A in all of them.  From a
    workload it goes down to ReplicaSets, Jobs and pods: conditions, refusals of the API server,
    nodes, volumes, images, crashes, probes, and every ConfigMap, Secret, variable and file of the
    configuration.  Equal reasons are one, worst first.  With -f the files are read as if they were
    applied.

    Exit code 1: something is wrong.  What is scaled to 0, suspended, complete or only just
    starting is not, nor is a pull secret that is missing while images are pulled.
    """
    state = choice.gather(skip_invalid_names=skip_invalid_names)
    diagnosis = lazy.diagnosis.diagnose(state)
    code = ends_with(1 if diagnosis.wrong else 0)
    if output != "text":
        document = lazy.why_output.diagnosis_document(diagnosis, state.remarks)
        print_document(document, output)
        return code
    said = lazy.problem_output
    said.tell_few([said.Notice("note", remark) for remark in state.remarks], verbose=verbose)
    if len(diagnosis.roots) == 1 and (choice.is_about_one or state.from_files):
        lines = lazy.why_output.report(diagnosis)
    else:
        lines = lazy.why_output.overview(diagnosis, verbose=verbose)
    for line in lines:
        click.echo(line)
    return code
