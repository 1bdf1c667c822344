"""``reflet run``: a local process with the environment and files of a pod's container, live."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from reflet.cli import lazy
from reflet.cli.command import WithHelpPage, command
from reflet.cli.main import message_of
from reflet.cli.options.pod_options import PodChoice, choose_container, pod_options, tell_default
from reflet.cli.options.remark_options import verbose_option
from reflet.cli.output.output import say
from reflet.errors import RefletError
from reflet.runtime.platforms import require_namespaces

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from reflet.resolution.pod_inputs import PodInputs
    from reflet.supervisor.configuration_sources import ConfigurationSource
    from reflet.supervisor.run_options import RunOptions
    from reflet.supervisor.service_forwards import ForwardChoice

OUR_FAILURE: Final = 125
USUAL_WAIT: Final = 10.0
"""Seconds that missing objects of a cluster may take to come; in files nothing comes by waiting."""

EVERY_SERVICE: Final = "--forward"

Say = Callable[[str], None]


class RunCommand(WithHelpPage):
    """A command whose arguments behind ``--`` are another command, and whose failures are 125."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the other command off before anything is parsed."""
        split = args.index("--") if "--" in args else len(args)
        # --forward alone means every Service; it must not swallow the word behind it.
        ours = [f"{word}=" if word == EVERY_SERVICE else word for word in args[:split]]
        rest = super().parse_args(ctx, ours)
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
            words = error.format_message()
            if "" in ctx.params["forward"] and len(ctx.params["arguments"]) > 1:
                words += "; a Service to forward stands behind an equals sign: --forward=NAME"
            raise _failed(f"{words} (see reflet run --help)") from error
        except RefletError as error:
            raise _failed(message_of(error)) from error
        except OSError as error:
            words = error.strerror or str(error)
            raise _failed(f"{error.filename}: {words}" if error.filename else words) from error


@command(
    cls=RunCommand,
    examples={
        "reflet run deploy/web -- python app.py": "with the configuration of the Deployment",
        "reflet run -f web.yaml -- env": "of a file; see what a process would get",
        "reflet run deploy/web --inherit HOME -- sh": "a shell, with a local variable as well",
        "reflet run deploy/web --forward -- ./web": "and the Services that variables name",
    },
)
@pod_options
@click.option("-c", "--container", default="", help="Container.  [default: as kubectl chooses]")
@click.option(
    "--on-change",
    default="restart",
    show_default=True,
    metavar="restart|signal:NAME|none",
    help="After a change: restart if needed, send a signal, or only update the files.",
)
@click.option(
    "--restart",
    type=click.Choice(["never", "on-failure", "always"]),
    default="never",
    show_default=True,
    help="Start it again after it ends, with the kubelet's back-off.",
)
@click.option(
    "--inherit",
    multiple=True,
    metavar="PATTERN",
    help="Local variables to pass on where the pod sets none, as HOME or AWS_*; repeatable.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a variable.")
@click.option("--unset", multiple=True, metavar="NAME", help="Remove a variable.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="New or empty folder for the files.  [default: a private one in memory]",
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
    help="Quiet time after a change before it is acted on.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long to wait for missing objects.  [default: 10, and 0 with -f]",
)
@click.option(
    "--tokens",
    is_flag=True,
    help="Request service account tokens as well, with the one of every pod; needs the right to "
    "create them.",
)
@click.option(
    EVERY_SERVICE,
    multiple=True,
    metavar="[=SERVICE[:PORT]]",
    help="Make the Services that variables name reachable from here, by port-forward, or one "
    "Service; repeatable.",
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
    forward: tuple[str, ...],
    verbose: bool,
    command: tuple[str, ...],
) -> int:
    """Run a process with the environment and files of a container.

    The pod is one of the cluster, or with -f one of the files, read as if they were applied.  A
    workload stands for a pod of its template.  Rights to read are enough; nothing is installed in
    the cluster.  Without COMMAND, the container's own command runs.

    The environment is the pod's, and PATH; --inherit adds local variables.  The files are under
    $REFLET_ROOT, each at its mount path, and are removed at the end.  When a ConfigMap or Secret
    changes, the files are updated at once; if a variable or a subPath file changed, the process
    is restarted with the pod's grace period.  Changes are reported on stderr by name, never with
    values.

    With --forward, the Services that variables name become reachable: each gets ports on a loopback
    address, which replace its name in the variables, and connections go to one of its ready pods
    by port-forward.  --forward=db:5432 chooses one Service, or one port of it.  Files and
    arguments are not changed.

    Signals are passed on.  Exit code: that of the process; 128 and its number for a signal; 127
    when the command is not found, 126 when it cannot be run, 125 for any other failure.
    """
    if isolate:
        require_namespaces("--isolate")
    if forward and choice.files:
        raise click.UsageError(
            "--forward needs the pods of a cluster, and -f reads files alone: leave out one of them"
        )
    choices = [lazy.service_forwards.ForwardChoice.parse(text) for text in forward if text]
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
    opening = _source(choice, inputs, chosen, tokens=tokens, forward=forward, choices=choices)
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
        running = lazy.running.run_process(opening, options, say=_say, announce=_announce)
        return lazy.event_loop.run(running)
    except lazy.program.NotStarted as error:
        # What the user typed may be shown, what was expanded may not.
        name = f"{options.command[0]}: " if options.command else ""
        raise _failed(f"{name}{error}", error.exit_code) from error
    except lazy.supervisor.ContainerRefused as error:
        again = f" {choice.files.flags}" if choice.files else ""
        raise _failed(
            f"container {container} would not start: {error} "
            f"(for more: reflet why {inputs.target}{again})"
        ) from error


def _source(
    choice: PodChoice,
    inputs: PodInputs,
    container: str,
    *,
    tokens: bool,
    forward: Sequence[str],
    choices: Sequence[ForwardChoice],
) -> AbstractAsyncContextManager[ConfigurationSource]:
    sources = lazy.configuration_sources
    if choice.files:
        return nullcontext(
            sources.files_configuration(
                inputs, container, files=choice.files, read_again=choice.read_files, say=_say
            )
        )
    cluster = lazy.cluster.Cluster(choice.connection())
    opening = sources.cluster_configuration(cluster, inputs, container, say=_say, tokens=tokens)
    if not forward:
        return opening
    forwards = lazy.service_forwards.ServiceForwards(
        cluster,
        inputs.namespace,
        every="" in forward,
        chosen=choices,
        known=() if isinstance(inputs.services, RefletError) else inputs.services or (),
        say=_say,
    )
    return lazy.service_forwards.forwarded_configuration(opening, forwards, say=_say)


def _failed(message: str, code: int = OUR_FAILURE) -> click.exceptions.Exit:
    _say(f"error: {message}")
    return click.exceptions.Exit(code)


def _announce(text: str) -> None:
    """Say what the process starts with, to people only: a log is the process's own."""
    if sys.stderr.isatty():
        say(text, prefix="reflet: ", meaning="dim")


def _say(text: str) -> None:
    say(text, prefix="reflet: ")
