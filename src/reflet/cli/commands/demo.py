"""``reflet demo``: everything at work for a few seconds, with no cluster at hand."""

from __future__ import annotations

import logging

import click

from reflet.cli import lazy


@click.command()
@click.option("--keep", is_flag=True, help="Leave it running until Ctrl-C, and print how to look.")
def demo(keep: bool) -> int:
    """Show what Reflet does, with no cluster, in a few seconds.

    Starts a development API server and a node agent on this machine, gives them three pods, and
    shows their environments and files, changes that arrive, a connection that breaks, and why
    one of the pods does not start.  Nothing is left behind.
    """
    # The story breaks connections on purpose: it says so itself.
    logging.getLogger("reflet").setLevel(logging.CRITICAL)
    return lazy.event_loop.run(_played(keep=keep))


async def _played(*, keep: bool) -> int:
    """Play, and leave nothing behind when told to stop before the end."""
    told: list[int] = []
    playing = lazy.asyncio.create_task(lazy.demo_story.play(keep=keep), name="demonstration")

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
