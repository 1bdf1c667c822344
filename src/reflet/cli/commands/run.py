"""``reflet run``: a local process with the environment and files of a pod's container, live."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.main import message_of
from reflet.cli.options.pod_options import PodChoice, choose_container, pod_options, tell_default
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import visible
from reflet.errors import RefletError

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from reflet.resolution.pod_inputs import PodInputs
    from reflet.supervisor.configuration_sources import ConfigurationSource
    from reflet.supervisor.run_options import RunOptions

OUR_FAILURE: Final = 125
USUAL_WAIT: Final = 10.0
"""Seconds that missing objects of a cluster may take to come; in files nothing comes by waiting."""

Say = Callable[[str], None]


class RunCommand(click.Command):
    """A command whose arguments behind ``--`` are another command, and whose failures are 125."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the other command off before anything is parsed."""
        split = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:split])
        ctx.params["command"] = tuple(args[split + 1 :])
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show where the other command stands."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the flags; a mistake in them must not look like an exit code of the command."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            raise _failed(f"{error.format_message()} (see reflet run --help)") from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run; nothing that goes wrong here must look like an exit code of the command."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _failed(f"{error.format_message()} (see reflet run --help)") from error
        except RefletError as error:
            raise _failed(message_of(error)) from error
        except OSError as error:
            words = error.strerror or str(error)
            raise _failed(f"{error.filename}: {words}" if error.filename else words) from error


@click.command(cls=RunCommand)
@pod_options
@click.option("-c", "--container", default="", help="Container; kubectl's choice if not given.")
@click.option(
    "--on-change",
    default="restart",
    show_default=True,
    metavar="restart|signal:NAME|none",
    help="What a change does: restart if it needs one, send a signal, or only refresh the files.",
)
@click.option(
    "--restart",
    type=click.Choice(["never", "on-failure", "always"]),
    default="never",
    show_default=True,
    help="Start it again when it ends by itself, with the kubelet's back-off.",
)
@click.option(
    "--inherit",
    multiple=True,
    metavar="PATTERN",
    help="Local variables to pass on where the pod sets none, as HOME or AWS_*; repeatable.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a variable.")
@click.option("--unset", multiple=True, metavar="NAME", help="Take a variable away.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="New or empty folder for the files; without it, a private one in memory.",
)
@click.option(
    "--isolate", is_flag=True, help="Show the files at their real paths, to the process alone."
)
@click.option(
    "--debounce",
    type=click.FloatRange(min=0),
    default=0.3,
    show_default=True,
    metavar="SECONDS",
    help="How long it must be quiet before a change is acted on.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long missing objects may take to come: 10, and 0 with -f.",
)
@click.option(
    "--tokens",
    is_flag=True,
    help="Ask for service account tokens, too, that of every pod included; takes the right to "
    "create them.",
)
@verbose_option
def run(
    choice: PodChoice,
    container: str,
    on_change: str,
    restart: str,
    inherit: tuple[str, ...],
    settings: tuple[str, ...],
    unset: tuple[str, ...],
    root: Path | None,
    isolate: bool,
    debounce: float,
    wait: float | None,
    tokens: bool,
    verbose: bool,
    command: tuple[str, ...],
) -> int:
    """Run a process with the environment and files of a pod's container, live.

    The pod is one of the cluster, or with -f one of the files, read as if they were applied; a
    workload means the pod of its template.  Reading rights are enough, nothing is installed.
    Without COMMAND, the container's own command runs.

    The environment is the pod's, and PATH; --inherit adds local variables.  The files are under
    $REFLET_ROOT, each at its mount path, and are gone at the end.  When a ConfigMap or Secret
    changes, the files follow at once, and what the process got at its start brings a restart,
    with the pod's grace period.  What changed is told by name on stderr.

    Signals are passed on.  Exit code: that of the process, 128 and its number for a signal, 127
    for a command that is not found, 126 for one that cannot be run, 125 for any other failure.
    """
    usual = 0.0 if choice.files else USUAL_WAIT
    options = lazy.run_options.RunOptions(
        command=command,
        local=dict(os.environ),
        environment=lazy.container_configuration.EnvironmentOptions(
            inherit, _settings(settings), _names(unset)
        ),
        on_change=lazy.configuration_changes.parse_on_change(on_change),
        restart=lazy.run_options.RestartPolicy(restart),
        debounce=debounce,
        wait=usual if wait is None else wait,
        isolate=isolate,
        root=root,
    )
    # What matters is said on stderr in this command's own words.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    # ConfigMaps and Secrets are followed from the start: nobody has to ask for them twice.
    needs = lazy.pod_inputs.Needs(references=lazy.pod_inputs.no_reference, admission=tokens)
    inputs = choice.gather(needs)
    chosen = choose_container(inputs.pod, container, owner=inputs.target)
    if not container:
        tell_default(inputs.pod, chosen)
    said = lazy.problem_output
    for notice in said.few(said.surroundings(inputs), verbose=verbose):
        _say(f"{notice.level}: {notice.text}")
    opening = _source(choice, inputs, chosen, tokens=tokens)
    return _run(choice, inputs, opening, options, container=chosen)


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            # The text itself may be a secret that was meant to have a name.
            raise click.UsageError("--set takes NAME=VALUE")
        settings[name] = value
    return settings


def _names(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if not name or "=" in name:
            raise click.UsageError("--unset takes the name of a variable")
    return names


def _run(
    choice: PodChoice,
    inputs: PodInputs,
    opening: AbstractAsyncContextManager[ConfigurationSource],
    options: RunOptions,
    *,
    container: str,
) -> int:
    try:
        return lazy.event_loop.run(lazy.running.run_process(opening, options, say=_say))
    except lazy.program.NotStarted as error:
        # What the user typed may be shown, what was expanded may not.
        name = f"{options.command[0]}: " if options.command else ""
        raise _failed(f"{name}{error}", error.exit_code) from error
    except lazy.supervisor.ContainerRefused as error:
        again = f" {choice.files.flags}" if choice.files else ""
        raise _failed(
            f"container {container} would not start: {error} "
            f"(reflet why {inputs.target}{again} tells more)"
        ) from error


def _source(
    choice: PodChoice, inputs: PodInputs, container: str, *, tokens: bool
) -> AbstractAsyncContextManager[ConfigurationSource]:
    sources = lazy.configuration_sources
    if not choice.files:
        cluster = lazy.cluster.Cluster(choice.connection())
        return sources.cluster_configuration(cluster, inputs, container, say=_say, tokens=tokens)
    return nullcontext(
        sources.files_configuration(
            inputs, container, files=choice.files, read_again=choice.read_files, say=_say
        )
    )


def _failed(message: str, code: int = OUR_FAILURE) -> click.exceptions.Exit:
    _say(f"error: {message}")
    return click.exceptions.Exit(code)


def _say(text: str) -> None:
    click.echo(f"reflet: {visible(' '.join(text.split()))}", err=True)
