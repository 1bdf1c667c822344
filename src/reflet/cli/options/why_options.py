"""The flags of ``reflet why``: which pods and workloads, from files or from a cluster."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, final

import click

from reflet.cli import lazy
from reflet.cli.options.arguments import ObjectTarget, ObjectWord, parse_targets
from reflet.cli.options.choice_options import choice_options
from reflet.cli.options.connection_options import ConnectionChoice
from reflet.cli.output.progress import Progress, progress
from reflet.errors import ConfigurationError, NotFound, ParseError, RefletError

if TYPE_CHECKING:
    from reflet.cli.options.project_options import ReadProject
    from reflet.cluster import Cluster
    from reflet.insight.why.cluster_state import ClusterState
    from reflet.manifests.files import Sources


@final
class WhyChoice:
    """What was asked about, and where it is looked for."""

    def __init__(
        self,
        arguments: Sequence[str],
        connection: ConnectionChoice,
        *,
        files: Sources,
        selector: str,
        all_namespaces: bool,
    ) -> None:
        self.targets = why_targets(arguments)
        # A lone word is the name of a pod, or else of a type that only the server knows.
        self._bare = len(arguments) == 1 and self.targets == [ObjectTarget("pod", arguments[0])]
        self._connection = connection
        self._files = files
        self._selector = selector
        self._everywhere = all_namespaces
        named = any(target.name is not None for target in self.targets)
        if named and selector:
            raise click.UsageError("a name needs no selector: leave out one of them")
        if named and all_namespaces and not files:
            raise click.UsageError("a name is of one namespace: leave out -A, or the name")

    @property
    def is_about_one(self) -> bool:
        """Whether one object was named."""
        return len(self.targets) == 1 and self.targets[0].name is not None

    def gather(self, read_project: ReadProject, *, skip_invalid_names: bool) -> ClusterState:
        """Get it from the files if there are any, with what the project's file knows, else from
        the server.

        Raises the errors of ``cluster_state`` and ``cluster_state_from_files``; but a name that is
        not there is ConfigurationError, from a server too.
        """
        if self._files:
            project = read_project()
            with progress("reading files") as told:
                return lazy.gather_why_files.cluster_state_from_files(
                    project.sources(self._files),
                    self._asked(self.targets),
                    namespace=self._connection.namespace,
                    selector=self._selector,
                    skip_invalid_names=skip_invalid_names,
                    assume=lazy.assumptions.Assumptions(project.lint.assume),
                    more=project.tables(),
                    on_file=told.add,
                )
        with progress("asking the server") as told:
            return lazy.event_loop.run(self._ask(told, skip_invalid_names=skip_invalid_names))

    def _asked(self, targets: Sequence[ObjectTarget]) -> list[Any]:
        return [lazy.gather_why_targets.WhyTarget(*each) for each in targets]

    async def _ask(self, told: Progress, *, skip_invalid_names: bool) -> ClusterState:
        gather = functools.partial(
            lazy.gather_why.cluster_state,
            namespace=lazy.client.ALL_NAMESPACES if self._everywhere else None,
            selector=self._selector,
            now=datetime.now(UTC),
            skip_invalid_names=skip_invalid_names,
            on_pages=told.listing,
        )
        async with lazy.cluster.Cluster(self._connection()) as cluster:
            try:
                state = await gather(cluster, self._asked(self.targets))
            except NotFound as error:
                word = self.targets[0].name if self._bare else None
                if not any(each.name for each in self.targets):
                    raise
                if word is None or not await _is_custom_type(cluster, word):
                    raise await self._missing(cluster, error) from error
                state = await gather(cluster, self._asked([ObjectTarget(word, None)]))
            is_empty = not (state.pods or state.workloads or self._everywhere)
            if is_empty and await lazy.missing_targets.has_no_namespace(cluster):
                raise ConfigurationError(f"namespace {cluster.namespace} does not exist")
            if is_empty and self._selector:
                raise ConfigurationError(
                    f"no pod or workload has {self._selector} in namespace {cluster.namespace}"
                )
            return state

    async def _missing(self, cluster: Cluster, error: NotFound) -> Exception:
        """Return what to raise for a name that is not there."""
        named = [each for each in self.targets if each.name is not None]
        target = next((each for each in named if each.name == error.name), named[0])
        missing_target = lazy.missing_targets.missing_target
        return await missing_target(cluster, f"{target.type}/{target.name}", bare=self._bare)


async def _is_custom_type(cluster: Cluster, word: str) -> bool:
    try:
        await cluster.find(word)
    except RefletError:  # the answer to what was asked is better than any to this question
        return False
    return True


why_options = choice_options(
    WhyChoice,
    click.argument(
        "arguments",
        nargs=-1,
        metavar="[TYPE[/NAME] | TYPE NAME… | POD]…",
        type=ObjectWord("workloads"),
    ),
    selector_help="Only what has these labels, or its pods: a=b,c!=d.",
    everywhere_help="Everything in all namespaces.",
)
"""Gives a command the flags; it is called with ``choice``, a WhyChoice."""


def why_targets(arguments: Sequence[str]) -> list[ObjectTarget]:
    """Read what kubectl reads (``deploy/web``, ``deploy web api``, ``deploy``), or a pod's name."""
    if not all(arguments):
        raise click.UsageError("an empty name: is a variable not set?")
    if not arguments:
        return []
    if len(arguments) == 1 and not {"/", ","} & {*arguments[0]} and not _is_type(arguments[0]):
        return [ObjectTarget("pod", arguments[0])]
    return parse_targets(arguments)


def _is_type(word: str) -> bool:
    try:
        lazy.resources.find(word)
    except ParseError:
        return False
    return True
