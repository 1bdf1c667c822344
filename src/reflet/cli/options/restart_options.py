"""The flags of ``reflet stale --restart``, and what they do: show, try, ask, and roll."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, final

import click

from reflet.cli import lazy
from reflet.cli.command import Function, with_options
from reflet.cli.output.output import counted, visible
from reflet.errors import NotFound

if TYPE_CHECKING:
    from reflet.cluster import Cluster
    from reflet.controllers.rollout_restarts import RolloutProgress, WorkloadName
    from reflet.insight.stale.stale_workloads import WorkloadStaleness
    from reflet.transport.config.settings import ConnectionSettings

FIELD_MANAGER: Final = "reflet-stale"
PATIENCE: Final = 600.0  # seconds for one rollout

_OPTIONS = (
    click.option("--restart", is_flag=True, help="Restart what is or may be stale; asks first."),
    click.option("--dry-run", is_flag=True, help="With --restart: only show what would be done."),
    click.option("-y", "--yes", is_flag=True, help="With --restart: do not ask."),
    click.option(
        "--parallel",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="With --restart: how many workloads at a time.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=PATIENCE,
        show_default=True,
        metavar="SECONDS",
        help="With --restart: longest time for one workload.",
    ),
)


@final
@dataclass(frozen=True, slots=True)
class RestartChoice:
    """Whether and how workloads are restarted."""

    wanted: bool
    dry_run: bool
    yes: bool
    parallel: int
    timeout: float

    def check(self) -> None:
        """Refuse what cannot be carried out, before anything is asked of a server."""
        if not self.wanted and (self.dry_run or self.yes):
            raise click.UsageError("--dry-run and --yes are for --restart: give it, too")
        if self.wanted and not (self.yes or self.dry_run or sys.stdin.isatty()):
            raise click.UsageError("--restart asks on a terminal: give --yes, or --dry-run")

    def carry_out(
        self, settings: ConnectionSettings, found: Sequence[WorkloadStaleness], *, now: datetime
    ) -> int:
        """Restart what is stale and may be restarted; the answer is the exit code."""
        stale = [each for each in found if each.is_stale]
        plan = lazy.event_loop.run(_plan(settings, stale))
        click.echo()
        for workload, why_not in plan:
            said = f"left alone: {why_not}" if why_not else "will be restarted"
            click.echo(visible(f"{_title(workload)}: {said}"))
        chosen = [
            lazy.rollout_restarts.WorkloadName(each.kind, each.namespace, each.name)
            for each, why_not in plan
            if not why_not
        ]
        if self.dry_run or not chosen:
            return 1
        how = "one at a time" if self.parallel == 1 else f"{self.parallel} at a time"
        number = counted(len(chosen), "workload")
        if not self.yes and not click.confirm(f"Restart {number}, {how}?", err=True):
            return 1
        failures = lazy.event_loop.run(self._roll(settings, chosen, now))
        for each in chosen:
            if each not in failures:
                click.echo(visible(f"{each}: not begun"), err=True)
            elif failures[each]:
                lazy.problem_output.tell("error", f"{each}: {failures[each]}")
        done = all(each in failures and not failures[each] for each in chosen)
        return 0 if done and len(chosen) == len(plan) else 1

    async def _roll(
        self, settings: ConnectionSettings, chosen: Sequence[WorkloadName], now: datetime
    ) -> dict[WorkloadName, str]:
        async with lazy.cluster.Cluster(settings) as cluster:
            return await lazy.rollout_restarts.roll(
                cluster,
                chosen,
                at=now,
                field_manager=FIELD_MANAGER,
                parallel=self.parallel,
                timeout=self.timeout,
                on_progress=_tell_progress,
            )


def _tell_progress(workload: WorkloadName, progress: RolloutProgress) -> None:
    click.echo(visible(f"{workload}: {progress.text}"))


def _title(workload: WorkloadStaleness) -> str:
    return f"{workload.title} in {workload.namespace}"


async def _plan(
    settings: ConnectionSettings, stale: Sequence[WorkloadStaleness]
) -> list[tuple[WorkloadStaleness, str]]:
    """Return each workload, and why it is not restarted; empty if it is."""
    async with lazy.cluster.Cluster(settings) as cluster:
        return [(each, await _why_not(cluster, each)) for each in stale]


async def _why_not(cluster: Cluster, workload: WorkloadStaleness) -> str:
    rollouts = lazy.rollout_restarts
    for shared in workload.uses:
        if shared.use.state is lazy.held_values.HeldState.MISSING:
            return f"its pods would not start again: {shared.use.judgement.reason}"
    if workload.kind == "Pod":
        return "no controller makes this pod again"
    resource = rollouts.ROLLED_KINDS.get(workload.kind)
    if resource is None:
        return f"a {workload.kind} does not replace its pods by itself"
    client = cluster.resource(resource, namespace=workload.namespace, raw=True)
    try:
        return rollouts.refusal(await client.get(workload.name))
    except NotFound:
        return "it is gone"


def restart_options(command: Function) -> Function:
    """Give *command* the flags; it is called with ``restart``, a RestartChoice."""

    @functools.wraps(command)
    def with_restart(
        *arguments: Any,
        restart: bool,
        dry_run: bool,
        yes: bool,
        parallel: int,
        timeout: float,
        **values: Any,
    ) -> Any:
        choice = RestartChoice(restart, dry_run, yes, parallel, timeout)
        choice.check()
        return command(*arguments, restart=choice, **values)

    return with_options(with_restart, _OPTIONS)
