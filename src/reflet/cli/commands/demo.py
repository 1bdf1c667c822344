"""``reflet demo``: everything at work for a few seconds, with no cluster at hand.

Owns: the command.  What is shown is demo_story.py's.  Must not know servers or agents.
"""

from __future__ import annotations

import click


@click.command()
@click.option("--keep", is_flag=True, help="Leave it running until Ctrl-C, and print how to look.")
def demo(keep: bool) -> int:
    """Show what Reflet does, with no cluster, in a few seconds.

    Starts a development API server and a node agent on this machine, gives them three pods, and
    shows their environments and files, changes that arrive, a connection that breaks, and why
    one of the pods does not start.  Nothing is left behind.
    """
    import asyncio  # noqa: PLC0415 - not needed for --help
    import logging  # noqa: PLC0415 - as above

    # The story breaks connections on purpose: it says so itself.
    logging.getLogger("reflet").setLevel(logging.CRITICAL)
    return asyncio.run(_played(keep=keep))


async def _played(*, keep: bool) -> int:
    """Play, and leave nothing behind when told to stop before the end."""
    import asyncio  # noqa: PLC0415 - not needed for --help

    from reflet.cli.demo.story import play  # noqa: PLC0415 - as above
    from reflet.cli.options.stop_signals import when_told_to_stop  # noqa: PLC0415 - as above

    told: list[int] = []
    playing = asyncio.create_task(play(keep=keep), name="demonstration")

    def stop(number: int) -> None:
        told.append(number)
        playing.cancel()

    when_told_to_stop(stop)
    try:
        return await playing
    except asyncio.CancelledError:
        if not told:
            raise
        return 128 + told[0]
