"""What every long-running part of Reflet stands on: time, waiting, ownership, measurement.

- ``clock``: what time it is and how to wait: the only door to time
- ``backoff``: how long to wait after a failure, and when that starts over
- ``gate``: one gate for everybody who follows a server over one connection
- ``waits``: waits with an end, waking whoever waits, one call for many
- ``latch``: something that happens once and that many wait for
- ``tasks``: who owns a task, and what becomes of it; small asynchronous contexts
- ``permanent_tasks``: tasks that are never to end, started again when they do
- ``threads``: work that blocks, beside the loop
- ``metrics``: what mechanisms report, and to whom; the Prometheus text
- ``structured_logs``: the form of log lines, for machines and for people
- ``descriptors``: how many descriptors a process may have open
- ``platforms``: what this operating system has
- ``sockets``: socket options by the system's own names
- ``darwin_sysctl``: what the macOS kernel says about itself
- ``no_follow``: down a path without following a link

This page imports none of its parts, so that each costs only those who use it.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.runtime.backoff import Backoff
    from reflet.runtime.clock import Clock, SystemClock
    from reflet.runtime.latch import Latch
    from reflet.runtime.metrics import MemoryMetrics, Metrics, NO_METRICS
    from reflet.runtime.tasks import TaskOwner
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.runtime.backoff": "Backoff",
        "reflet.runtime.clock": "Clock SystemClock",
        "reflet.runtime.latch": "Latch",
        "reflet.runtime.metrics": "MemoryMetrics Metrics NO_METRICS",
        "reflet.runtime.tasks": "TaskOwner",
    })

__all__ = [
    "NO_METRICS", "Backoff", "Clock", "Latch", "MemoryMetrics", "Metrics", "SystemClock",
    "TaskOwner",
]
