"""``reflet why``: what in its configuration keeps a pod from starting, and what to do."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from reflet.cli import lazy
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import ends_with, print_document
from reflet.errors import Invalid

if TYPE_CHECKING:
    from reflet.insight.why import Diagnosis


@click.command()
@pod_options
@click.option(
    "-o", "--output", type=click.Choice(("text", "json", "yaml")), default="text", show_default=True
)
@click.option(
    "--skip-invalid-names",
    is_flag=True,
    help="Skip keys that are no names for variables, as Kubernetes 1.19 did.",
)
@verbose_option
def why(choice: PodChoice, output: str, skip_invalid_names: bool, verbose: bool) -> int:
    """Say what in its configuration keeps a pod from starting.

    Every reason is told, not only the first, with what the kubelet says and what to do about
    it.  From a cluster the pod's status and events are read too: what they complain about is
    matched with the reasons, and what configuration does not explain is told apart.  With -f
    the files are read as if they were applied.  Exit code 1: something keeps the pod from
    starting, or lets it start wrongly.  A pull secret that is missing is told and is no failure
    by itself: most images need none.
    """
    remarks: tuple[str, ...] = ()
    try:
        inputs = choice.gather(lazy.pod_inputs.Needs(events=True))
    except Invalid as refusal:
        if not choice.files:
            raise
        diagnosis, title = _refused(refusal), f"{refusal.kind} {refusal.name}"
    else:
        inputs = dataclasses.replace(inputs, skip_invalid_names=skip_invalid_names)
        diagnosis = lazy.why.diagnose(inputs)
        title, remarks = lazy.why_output.title_of(inputs), inputs.remarks
    code = ends_with(1 if any(reason.fails for reason in diagnosis.reasons) else 0)
    if output == "text":
        said = lazy.problem_output
        said.tell_few([said.Notice("note", remark) for remark in remarks], verbose=verbose)
        for line in lazy.why_output.report(title, diagnosis):
            click.echo(line)
    else:
        print_document(lazy.why_output.diagnosis_document(diagnosis, remarks), output)
    return code


def _refused(error: Invalid) -> Diagnosis:
    reason = lazy.why.Reason(
        problem="Refused",
        message=str(error),
        fix="change the fields that it names",
    )
    return lazy.why.Diagnosis(namespace="", pod=error.name, reasons=(reason,))
