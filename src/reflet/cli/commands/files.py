"""``reflet files``: the files that a pod's volumes hold, listed or written."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from reflet.cli import lazy
from reflet.cli.command import command
from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import ends_with, visible

FORMS: Final = ("table", "wide", "json", "yaml")


@command(
    examples={
        "reflet files deploy/web": "path, mode, size and source of each file",
        "reflet files -f web.yaml --to files": "write them below the folder files",
        "reflet files deploy/web --to files --watch": "and keep them up to date",
    },
)
@pod_options
@click.option("--volume", "names", multiple=True, metavar="NAME", help="Only these volumes.")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the files below this folder, as VOLUME/PATH.",
)
@click.option("--watch", is_flag=True, help="With --to: keep the files up to date until Ctrl-C.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Print no headings.")
@verbose_option
def files(
    choice: PodChoice,
    names: tuple[str, ...],
    folder: Path | None,
    watch: bool,
    output: str,
    no_headers: bool,
    verbose: bool,
) -> int:
    """List or write the files of a pod's volumes.

    The volumes are those with configuration: configMap, secret, downwardAPI and projected.  The
    list includes the volume that admission adds for the token of the service account.  Files are
    written as the kubelet writes them: a reader sees all old or all new ones.

    Exit code 1: the kubelet would refuse a volume; then nothing is written.
    """
    if watch and folder is None:
        raise click.UsageError("--watch keeps files fresh: say where with --to")
    volume_files = lazy.volume_files
    if watch and folder is not None:
        return volume_files.watch_files(choice, names, folder, verbose=verbose)
    # Who writes files has no use for what only a pod that is made gets.
    needs = volume_files.needs_of_volumes(
        names, tokens=folder is not None, admission=folder is None
    )
    inputs = choice.gather(needs)
    volumes = list(inputs.volumes(names).values())
    code = ends_with(1 if volume_files.refused_volumes(volumes) else 0)
    remarks = lazy.problem_output.surroundings(inputs)
    refused = volume_files.tell_refused(inputs, volumes, verbose=verbose, notices=remarks)
    if not refused or folder is None:
        if folder is not None:
            volume_files.write_volumes(folder, volumes)
        elif not volumes:
            words = f"{inputs.target} has no volume that holds configuration."
            click.echo(visible(words), err=True)
        volume_files.print_volumes(volumes, output, no_headers=no_headers)
    return code
