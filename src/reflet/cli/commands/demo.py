"""``reflet demo``: everything at work for a few seconds, with no cluster at hand."""

from __future__ import annotations

import logging

import click

from reflet.cli import lazy
from reflet.cli.command import command


@command(
    examples={
        "reflet demo": "a few seconds, with pauses to read",
        "reflet demo --fast": "without the pauses",
        "reflet demo --keep": "leave it running, to look around with kubectl",
    }
)
@click.option("--keep", is_flag=True, help="Leave it running until Ctrl-C, with a live page.")
@click.option("--fast", is_flag=True, help="No pauses between the scenes.")
def demo(keep: bool, fast: bool) -> int:
    """Show what Reflet does in a few seconds, without a cluster.

    Starts a development API server and a node agent on this machine, with three pods, and shows
    their environment and files, changes that arrive, an outage of the server, and why one of the
    pods does not start.  Nothing is left behind.
    """
    # The story breaks connections on purpose: it says so itself.
    logging.getLogger("reflet").setLevel(logging.CRITICAL)
    return lazy.event_loop.run(_played(keep=keep, fast=fast))


async def _played(*, keep: bool, fast: bool) -> int:
    """Play, and leave nothing behind when told to stop before the end."""
    told: list[int] = []
    playing = lazy.asyncio.create_task(
        lazy.demo_story.play(keep=keep, fast=fast), name="demonstration"
    )

    def stop(number: int) -> None:
        told.append(number)
        playing.cancel()

    lazy.stop_signals.when_told_to_stop(stop)
    try:
        return await playing
    except lazy.asyncio.CancelledError:
        if not told:
            raise
        return 128 + told[0]
