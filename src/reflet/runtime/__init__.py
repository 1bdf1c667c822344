"""What every long-running part of Reflet stands on: time, patience, ownership, measurement.

- ``clock``    what time it is and how to wait: the only door to time
- ``backoff``  how long to wait after a failure
- ``latch``    something that happens once and that many wait for
- ``threads``  work that blocks, beside the loop
- ``tasks``    who owns a task, and what becomes of it
- ``metrics``  what mechanisms report, and to whom

Owns no knowledge of Kubernetes: nothing here knows what is watched, retried or counted.
This page imports none of its parts, so that each costs only those who use it.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.runtime.backoff import Backoff
    from reflet.runtime.clock import Clock, SystemClock
    from reflet.runtime.latch import Latch
    from reflet.runtime.metrics import NO_METRICS, MemoryMetrics, Metrics
    from reflet.runtime.tasks import TaskOwner
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.runtime.backoff": "Backoff",
            "reflet.runtime.clock": "Clock SystemClock",
            "reflet.runtime.latch": "Latch",
            "reflet.runtime.metrics": "MemoryMetrics Metrics NO_METRICS",
            "reflet.runtime.tasks": "TaskOwner",
        },
    )

__all__ = [
    "NO_METRICS", "Backoff", "Clock", "Latch", "MemoryMetrics", "Metrics", "SystemClock",
    "TaskOwner",
]  # fmt: skip
