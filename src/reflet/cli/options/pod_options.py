"""The flags of every command about a pod: which pod, from files or from a cluster.

Also the choice of a container, which is kubectl's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import click

from reflet.cli import lazy
from reflet.cli.options.arguments import FILE_NAME, ObjectWord
from reflet.cli.options.connection_options import ConnectionChoice, connection_options
from reflet.cli.output.progress import progress

if TYPE_CHECKING:
    from reflet.api.core.pods import Pod
    from reflet.resolution.pod_inputs import Needs, PodInputs

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"

_OPTIONS = (
    click.argument(
        "arguments", nargs=-1, metavar="[TYPE/NAME | TYPE NAME | POD]", type=ObjectWord("pods")
    ),
    click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        type=FILE_NAME,
        metavar="FILE|FOLDER|-",
        help="Read these objects, YAML or JSON, and ask no server; may be repeated.",
    ),
    click.option("-l", "--selector", default="", help="The one pod with these labels: a=b,c!=d."),
    click.option("-A", "--all-namespaces", is_flag=True, help="With -l: in all namespaces."),
)


@final
class PodChoice:
    """Which pod is meant, and where it is looked for.

    ``target`` is ``TYPE/NAME``, empty when none was typed.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        connection: ConnectionChoice,
        *,
        files: Sequence[str],
        selector: str,
        all_namespaces: bool,
    ) -> None:
        self.target = pod_target(arguments)
        self.connection = connection
        self.files = tuple(files)
        self.selector = selector
        self.all_namespaces = all_namespaces
        self._check()

    def gather(self, needs: Needs | None = None) -> PodInputs:
        """Get the pod and what *needs* says, from the files if there are any, else the server.

        Raises the errors of ``pod_inputs`` and ``pod_inputs_from_files``.
        """
        if self.files:
            with progress("reading files"):
                return self.read_files()
        with progress("asking the server"):
            return lazy.event_loop.run(self._ask(needs))

    def read_files(self) -> PodInputs:
        """Read the files, again if they have been read before."""
        return lazy.gather_files.pod_inputs_from_files(
            self.files, self.target, namespace=self.connection.namespace
        )

    async def _ask(self, needs: Needs | None) -> PodInputs:
        async with lazy.cluster.Cluster(self.connection()) as cluster:
            return await lazy.gather.pod_inputs(
                cluster,
                self.target,
                namespace=lazy.client.ALL_NAMESPACES if self.all_namespaces else None,
                selector=self.selector,
                needs=needs,
            )

    def _check(self) -> None:
        if self.files:
            if self.selector:
                raise click.UsageError("-l asks a server: leave it out, or -f")
            return
        if self.target and self.selector:
            raise click.UsageError("a name needs no selector: leave out one of them")
        if self.target and self.all_namespaces:
            raise click.UsageError("a name is of one namespace: leave out -A, or the name")
        if not self.target and not self.selector:
            raise click.UsageError("name the pod, as in: pod/NAME, deploy/NAME, or -f FILE")


def pod_options(command: Command) -> Command:
    """Give *command* the flags; it is called with ``choice``, a PodChoice."""

    @functools.wraps(command)
    def with_choice(*_: Any, connection: ConnectionChoice, **values: Any) -> Any:
        choice = PodChoice(
            values.pop("arguments"),
            connection,
            files=values.pop("files"),
            selector=values.pop("selector"),
            all_namespaces=values.pop("all_namespaces"),
        )
        return command(choice=choice, **values)

    decorated: Any = connection_options(with_choice)
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    result: Command = decorated
    return result


def pod_target(arguments: Sequence[str]) -> str:
    """Read ``TYPE/NAME``, ``TYPE NAME`` or the name of a pod as ``TYPE/NAME``; nothing is empty."""
    if not all(arguments):
        raise click.UsageError("an empty name: is a variable not set?")
    match [*arguments]:
        case []:
            return ""
        case [one] if "/" in one:
            kind, _, name = one.partition("/")
            if not kind or not name or "/" in name:
                raise click.UsageError(f"{one!r} is not of the form TYPE/NAME")
            return one
        case [one]:
            return f"pod/{one}"
        case [kind, name] if "/" not in kind and "/" not in name:
            return f"{kind}/{name}"
        case _:
            raise click.UsageError("one pod at a time: TYPE/NAME, TYPE NAME or the name of a pod")


def choose_container(pod: Pod, name: str | None) -> str:
    """Return the name of the container that is meant; without one, as kubectl chooses.

    Raises ConfigurationError, with the names there are, for one that the pod does not have.
    """
    container_named = lazy.places.container_named
    if name:
        return container_named(pod, name).container.name
    wished = pod.metadata.annotations.get(DEFAULT_CONTAINER, "")
    names = [container.name for container in pod.spec.containers]
    return wished if wished in names else (names or [container_named(pod, "").container.name])[0]


def tell_default(pod: Pod, chosen: str) -> None:
    """Say on stderr which container was chosen, if there was a choice."""
    spec = pod.spec
    names = [container.name for container in spec.containers]
    names += [f"{container.name} (init)" for container in spec.init_containers]
    names += [f"{container.name} (ephem)" for container in spec.ephemeral_containers]
    if len(names) > 1:
        click.echo(f'Defaulted container "{chosen}" out of: {", ".join(names)}', err=True)
