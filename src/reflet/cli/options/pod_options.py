"""The flags of every command about a pod: which pod, from files or from a cluster.

Also the choice of a container, which is kubectl's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, final

import click

from reflet.cli import lazy
from reflet.cli.command import Function
from reflet.cli.options.arguments import ObjectWord
from reflet.cli.options.choice_options import choice_options
from reflet.cli.options.connection_options import ConnectionChoice
from reflet.cli.options.file_options import HELM_SET
from reflet.cli.output.output import say
from reflet.cli.output.progress import progress
from reflet.errors import ConfigurationError, NotFound

if TYPE_CHECKING:
    from reflet.api.core.pods import Pod
    from reflet.manifests.files import Sources
    from reflet.resolution.pod_inputs import Needs, PodInputs

DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"


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
        files: Sources,
        selector: str,
        all_namespaces: bool,
    ) -> None:
        self.target = pod_target(arguments)
        # A lone word is the name of a pod, or else somebody forgot the name behind a type.
        self._bare = arguments[0] if len(arguments) == 1 and "/" not in arguments[0] else ""
        self.connection = connection
        self.files = files
        self.selector = selector
        self.all_namespaces = all_namespaces
        self._check()

    @property
    def names_a_pod(self) -> bool:
        """Whether anything was typed that leads to a pod."""
        return bool(self.target or self.selector or self.files)

    def gather(self, needs: Needs | None = None, *, refused: bool = False) -> PodInputs:
        """Get the pod and what *needs* says, from the files if there are any, else the server.

        With *refused*, a pod of the files may be one that a server would refuse.  Raises the
        errors of ``pod_inputs`` and ``pod_inputs_from_files``; but a name that is not there is
        ConfigurationError, from a server too.
        """
        if not self.names_a_pod:
            raise click.UsageError("name the pod, as in: pod/NAME, deploy/NAME, or -f FILE")
        if self.files:
            admission = needs is not None and needs.admission
            with progress("reading files") as told:
                return self.read_files(refused=refused, admission=admission, on_file=told.add)
        with progress("asking the server"):
            return lazy.event_loop.run(self._ask(needs))

    def read_files(
        self,
        *,
        refused: bool = False,
        admission: bool = False,
        on_file: Callable[[int], None] | None = None,
    ) -> PodInputs:
        """Read the files, again if they have been read before."""
        return lazy.gather_files.pod_inputs_from_files(
            self.files,
            self.target,
            namespace=self.connection.namespace,
            refused=refused,
            admission=admission,
            on_file=on_file,
        )

    async def _ask(self, needs: Needs | None) -> PodInputs:
        async with lazy.cluster.Cluster(self.connection()) as cluster:
            try:
                return await lazy.gather.pod_inputs(
                    cluster,
                    self.target,
                    namespace=lazy.client.ALL_NAMESPACES if self.all_namespaces else None,
                    selector=self.selector,
                    needs=needs,
                )
            except NotFound as error:
                if not self.target:
                    raise
                missing_target = lazy.missing_targets.missing_target
                raise await missing_target(cluster, self.target, bare=bool(self._bare)) from error

    def _check(self) -> None:
        if self.files:
            if self.selector:
                raise click.UsageError("-l asks a server: leave it out, or -f")
            return
        if self.target and self.selector:
            if self._bare and _is_type(self._bare):
                raise click.UsageError(
                    f"-l chooses a pod by its labels, not one of a type: leave out {self._bare}, "
                    f"or name one: {self._bare}/NAME"
                )
            raise click.UsageError("a name needs no selector: leave out one of them")
        if self.target and self.all_namespaces:
            raise click.UsageError("a name is of one namespace: leave out -A, or the name")


def pod_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``choice``, a PodChoice."""
    # `reflet run --set` is for variables.
    taken = any("--set" in option.opts for option in getattr(command, "__click_params__", ()))
    decorate = choice_options(
        PodChoice,
        click.argument(
            "arguments", nargs=-1, metavar="[TYPE/NAME | TYPE NAME | POD]", type=ObjectWord("pods")
        ),
        selector_help="The one pod with these labels: a=b,c!=d.",
        everywhere_help="With -l: in all namespaces.",
        helm_set=HELM_SET[1:] if taken else HELM_SET,
    )
    return decorate(command)


def _is_type(word: str) -> bool:
    try:
        lazy.templates.pod_resource(word)
    except ConfigurationError:
        return False
    return True


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


def choose_container(pod: Pod, name: str | None, *, owner: str = "") -> str:
    """Return the name of the container that is meant; without one, as kubectl chooses.

    Raises ConfigurationError, with the names there are, for one that the pod does not have; *owner*
    is the object that was asked for, as ``deployment/web``.
    """
    container_named = lazy.places.container_named
    if name:
        return container_named(pod, name, owner=owner).container.name
    wished = pod.metadata.annotations.get(DEFAULT_CONTAINER, "")
    names = [container.name for container in pod.spec.containers]
    if wished in names:
        return wished
    return names[0] if names else container_named(pod, "", owner=owner).container.name


def tell_default(pod: Pod, chosen: str) -> None:
    """Say on stderr which container was chosen, if there was a choice."""
    spec = pod.spec
    names = [container.name for container in spec.containers]
    names += [f"{container.name} (init)" for container in spec.init_containers]
    names += [f"{container.name} (ephem)" for container in spec.ephemeral_containers]
    if len(names) > 1:
        say(f'Defaulted container "{chosen}" out of: {", ".join(names)}', meaning="dim")
