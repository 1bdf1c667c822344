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

    from reflet.cli.demo_story import play  # noqa: PLC0415 - as above

    # The story breaks connections on purpose: it says so itself.
    logging.getLogger("reflet").setLevel(logging.CRITICAL)
    return asyncio.run(play(keep=keep))
