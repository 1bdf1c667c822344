"""``reflet files``: the files that a pod's volumes hold, listed or written.

Owns: the command, and that nothing is written unless everything can be.  Must not know how
contents are resolved, nor how files reach the disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli.options.pod_options import PodChoice, pod_options
from reflet.cli.output.output import print_fitting_table, print_json, print_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reflet.api.core.pods import Pod
    from reflet.cli.pod_gathering import Needs, PodInHand
    from reflet.resolution.file_contents import FileContent, VolumeContents
    from reflet.resolution.references import Reference

FORMS: Final = ("table", "json", "yaml")
HEADINGS: Final = ("VOLUME", "PATH", "MODE", "SIZE", "FROM")


@click.command()
@pod_options
@click.option("--volume", "names", multiple=True, metavar="NAME", help="Only these volumes.")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the files below this folder, as VOLUME/PATH.",
)
@click.option("--watch", is_flag=True, help="With --to: keep the files fresh until Ctrl-C.")
@click.option("-o", "--output", type=click.Choice(FORMS), default="table", show_default=True)
@click.option("--no-headers", is_flag=True, help="Leave out the headings of tables.")
def files(
    choice: PodChoice,
    names: tuple[str, ...],
    folder: Path | None,
    watch: bool,
    output: str,
    no_headers: bool,
) -> int:
    """List or write the files of a pod's volumes.

    Volumes are those that hold configuration: configMap, secret, downwardAPI and projected.
    They are written as the kubelet writes them, so that readers see old or new files and
    nothing in between.  Exit code 1: the kubelet would refuse a volume; nothing is written then.
    """
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.cli.pod_volumes import resolve_volumes  # noqa: PLC0415 - as above

    if watch and folder is None:
        raise click.UsageError("--watch keeps files fresh: say where with --to")
    if watch and folder is not None:
        from reflet.cli.output.watched_files import watch_files  # noqa: PLC0415 - as above

        return watch_files(choice, names, folder)
    hand = choice.gather(needs_of_volumes(names, tokens=folder is not None))
    volumes = resolve_volumes(hand, names)
    problem_output.tell_surroundings(hand)
    refused = tell_refused(hand, volumes)
    if not refused or folder is None:
        if folder is not None:
            write_volumes(folder, volumes)
        elif not volumes:
            click.echo(f"{hand.target} has no volume that holds configuration.", err=True)
        _show(volumes, output, no_headers=no_headers)
    return 1 if refused else 0


def needs_of_volumes(names: Sequence[str], *, tokens: bool) -> Needs:
    """Return what must be read for the named volumes, or for all of them."""
    from reflet.cli.pod_gathering import Needs  # noqa: PLC0415 - not needed for --help
    from reflet.resolution.references import Usage  # noqa: PLC0415 - as above

    def of_a_volume(_: Pod, reference: Reference) -> bool:
        named = not names or reference.place.volume in names
        return reference.usage is Usage.VOLUME and named

    return Needs(references=of_a_volume, services=False, tokens=tokens, bundles=True)


def tell_refused(hand: PodInHand, volumes: Sequence[VolumeContents]) -> frozenset[str]:
    """Say what is wrong with the volumes; return the names of those that a kubelet would refuse."""
    from reflet.cli.output import problem_output  # noqa: PLC0415 - not needed for --help
    from reflet.volumes.payload_paths import laid_out  # noqa: PLC0415 - as above
    from reflet.volumes.volume_errors import InvalidPath  # noqa: PLC0415 - as above

    problems = [problem for contents in volumes for problem in contents.problems]
    problem_output.tell_problems(problems, fixes=problem_output.fixes_for(hand, problems))
    refused = set()
    for contents in volumes:
        error = contents.error
        try:
            laid_out(contents.files)
        except InvalidPath as invalid:
            error = error or str(invalid)
        if error is not None:
            refused.add(contents.volume)
            problem_output.tell("error", f"volume {contents.volume} would not be set up: {error}")
    return frozenset(refused)


def write_volumes(folder: Path, volumes: Sequence[VolumeContents]) -> None:
    """Write volumes below a folder, as VOLUME/PATH; what is not known is left out, and said."""
    from reflet.cli.output.problem_output import tell  # noqa: PLC0415 - as above
    from reflet.cli.pod_volumes import writable  # noqa: PLC0415 - not needed for --help
    from reflet.volumes.atomic_writer import AtomicWriter  # noqa: PLC0415 - as above

    for contents in volumes:
        known, unknown = writable(contents)
        for path in unknown:
            tell("note", f"{contents.volume}/{path} is left out: only a running pod has it")
        writer = AtomicWriter(folder / contents.volume)
        writer.write(known)
        for note in writer.notes:
            tell("note", note)


def _show(volumes: Sequence[VolumeContents], output: str, *, no_headers: bool) -> None:
    listed = [
        (contents.volume, path, file)
        for contents in volumes
        for path, file in contents.files.items()
    ]
    if output != "table":
        document = [_document(*each) for each in listed]
        (print_json if output == "json" else print_yaml)(document)
        return
    print_files(volumes, no_headers=no_headers)


def print_files(volumes: Sequence[VolumeContents], *, no_headers: bool) -> None:
    """Print the files of volumes, and where each comes from."""
    from reflet.cli.output.origin_text import origin_text  # noqa: PLC0415 - not needed for --help

    rows = [
        (
            contents.volume,
            path,
            mode_text(file.mode),
            f"{len(file.data)} B" if file.known else "?",
            origin_text(file.origin),
        )
        for contents in volumes
        for path, file in contents.files.items()
    ]
    if rows:
        print_fitting_table(HEADINGS, rows, flexible=4, no_headers=no_headers)


def _document(volume: str, path: str, file: FileContent) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415 - not needed for --help

    return {
        "volume": volume,
        "path": path,
        "mode": mode_text(file.mode),
        "size": len(file.data) if file.known else None,
        "source": msgspec.to_builtins(file.origin),
    }


def mode_text(mode: int) -> str:
    """Return a mode as people write it: ``0644``."""
    return f"{mode:04o}"
