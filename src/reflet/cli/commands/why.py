"""``reflet why``: what keeps pods and workloads from running, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.project_options import late_project_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.options.why_options import WhyChoice, why_options
from reflet.cli.output.output import ends_with, print_document

if TYPE_CHECKING:
    from reflet.cli.options.project_options import ReadProject


@command(
    examples={
        "reflet why": "everything that is wrong in this namespace",
        "reflet why deploy/web": "one workload, with its pods",
        "reflet why -f web.yaml": "files, before they are applied",
    },
)
@why_options
@click.option(
    "-o", "--output", type=click.Choice(("text", "json", "yaml")), default="text", show_default=True
)
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that cannot be names of variables, as Kubernetes 1.19 did.",
)
@late_project_options
@verbose_option
def why(
    choice: WhyChoice,
    output: str,
    skip_invalid_names: bool,
    verbose: bool,
    read_project: ReadProject,
) -> int:
    """Explain why pods and workloads do not run, and what to do.

    Without a name, everything in the namespace is examined, with -A in all namespaces.  A
    workload is followed to its ReplicaSets, Jobs and pods: conditions, refusals of the API
    server, nodes, volumes, images, crashes, probes, and every ConfigMap, Secret, variable and file
    of the configuration.  Equal reasons are reported once, the worst first.  With -f, files are
    read as if they were applied; what others make, or .reflet.yaml assumes, is not missing.

    Exit code 1: something is wrong.  Workloads that are scaled to 0, suspended, complete or just
    starting are not wrong, nor is a missing pull secret while images are pulled.
    """
    state = choice.gather(read_project, skip_invalid_names=skip_invalid_names)
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
