"""A candidate of our leader election as a program, the twin of kube/elector.

python -m tests.real.python_elector KUBECONFIG NAMESPACE NAME IDENTITY LEASE RENEW RETRY
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time

from reflet.cluster import connect
from reflet.controllers.leader_election import LeadershipLost, leader


def say(word: str) -> None:
    sys.stdout.write(f"{word} {time.time_ns()}\n")
    sys.stdout.flush()


async def main() -> None:
    kubeconfig, namespace, name, identity, *times = sys.argv[1:]
    lease, renew, retry = (float(text.removesuffix("s")) for text in times)
    told_to_stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_stop.set)
    say("candidate")
    async with connect(kubeconfig=kubeconfig) as cluster:
        election = leader(
            cluster,
            name,
            namespace=namespace,
            identity=identity,
            lease_duration=lease,
            renew_deadline=renew,
            retry_period=retry,
        )
        try:
            async with election:
                say("leads")
                try:
                    await told_to_stop.wait()
                finally:
                    assert told_to_stop.is_set() or not election.is_leading, "it still leads"
                    say("stopped")
        except LeadershipLost:
            return


if __name__ == "__main__":
    asyncio.run(main())
