"""What becomes stale, line by line, while a watch goes on; and the same as a page of metrics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime

import click

from reflet.api.core.pods import Pod
from reflet.cli.output.output import say, visible
from reflet.cli.output.stale_output import Line, lines_of, metrics_text, totals_text
from reflet.cluster import Cluster
from reflet.insight.stale.stale_workloads import RunningPods, stale_workloads
from reflet.podconfig.many_pods.gather_staleness import names_of, pods_of
from reflet.podconfig.many_pods.staleness_watch import StalenessWatch
from reflet.runtime.metrics import CONTENT_TYPE
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.serving.http_answers import Answer, HttpAnswers, Question, text

Place = tuple[str, int]
"""Host and port."""


class StaleWatching:
    """Prints what is new in each report, and answers with the last one as metrics."""

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last: dict[Line, str] | None = None
        self._page = ""

    def show(self, running: RunningPods) -> None:
        """Print what is stale that was not before, and what is no longer."""
        found = stale_workloads(running, now=self._now(), current=False)
        self._page = metrics_text(found)
        lines = lines_of(found)
        before = self._last or {}
        time = self._now().astimezone().strftime("%H:%M:%S")
        for key in before.keys() - lines.keys():
            namespace, title, use, source, *_ = key
            click.echo(visible(f"{time} {namespace} {title} {use}: no longer so: {source}"))
        for key in lines.keys() - before.keys():
            click.echo(f"{time} {lines[key]}")
        if self._last is None:
            click.echo(f"{time} {totals_text(found, pods=len(running.pods))}")
        self._last = lines

    async def answer(self, question: Question) -> Answer:
        """Answer for ``/metrics``."""
        if question.path == ("metrics",):
            return Answer(200, self._page.encode(), CONTENT_TYPE)
        return text(404, "not found: there is /metrics")


async def watch_stale(
    settings: ConnectionSettings,
    targets: Sequence[str],
    selector: str,
    place: Place | None,
    *,
    everywhere: bool,
    now: Callable[[], datetime],
) -> None:
    """Print until cancelled; raises what waiting does not change: Forbidden, Unauthorized."""
    # The same things are said on stderr in this command's own words.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    watching = StaleWatching(now=now)
    said: set[str] = set()

    def failed(error: Exception) -> None:
        words = f"warning: {error}; trying again"
        if words not in said:
            said.add(words)
            say(words)

    async with AsyncExitStack() as opened:
        cluster = await opened.enter_async_context(Cluster(settings))
        wanted = await names_of(cluster, targets)
        if place is not None:
            port = await opened.enter_async_context(HttpAnswers(*place, watching.answer))
            click.echo(f"metrics at http://{port.host}:{port.port}/metrics", err=True)
        watch = await opened.enter_async_context(
            StalenessWatch(cluster, selector=selector, everywhere=everywhere, on_error=failed)
        )
        async for running in watch.changes():
            pods: tuple[Pod, ...] = running.pods
            if wanted:
                pods = pods_of(pods, running.owners, wanted)
            await asyncio.to_thread(watching.show, running._replace(pods=pods))
