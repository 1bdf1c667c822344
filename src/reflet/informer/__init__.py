"""Mirroring: keep something in memory equal to a collection on the server, and tell who follows.

What the server has, and how to ask for it:

- ``source``: what a reflector needs from a client
- ``reflector_requests``: the lists and watches it sends
- ``open_watch``: one watch from its opening to its end
- ``event_checks``: which events count, where the source does not check

What to do about it, in pure code:

- ``watch_endings``: how lists and watches end and what comes next, as tables
- ``state_diagram``: the tables as a picture
- ``version_cursor``: which version is known, and which to ask for
- ``retry_window``: for how long a server's own failures are forgiven
- ``pacing``: when "at once" is too soon

The loop that obeys:

- ``reflector``: fill, watch, and start again, for ever
- ``filling``: the sink gets the whole collection
- ``streaming_list``: the collection as the beginning of a watch
- ``watching``: watch, and watch again, until only a new list helps
- ``delivery``: what came goes to the sink, then the version moves
- ``patience``: the one series of delays
- ``liveness``: whether the server is in reach, and when it last gave a sign of life
- ``reflector_metrics``: the numbers that a reflector reports
- ``consistency``: whether what is held is what the server had

From there to everybody who follows:

- ``delta_fifo``, ``ordered_queue``, ``queued_deltas``: queues between a reflector and a store
- ``intake``, ``updater``: deltas become changes of a store
- ``changes``: what a handler is told
- ``audience``, ``registrations``, ``handler_queue``, ``arrivals``: who is told, at his own pace
- ``filtering``, ``change_stream``: handlers that hear less, and changes to iterate
- ``resync``: who is due to hear the present state again
- ``shared_informer``, ``informer_set``: one watch for many handlers, and many of those
- ``informer_errors``: what an informer cannot do
- ``mutation_cache``: reading one's own writes
- ``mirror``: all of it, as a program first meets it

Must not know HTTP, JSON, or any client.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.informer.handlers.change_stream import ChangeStream
    from reflet.informer.handlers.changes import Backlog, Change
    from reflet.informer.handlers.filtering import filtered
    from reflet.informer.handlers.registration import Handler, Registration
    from reflet.informer.informer_errors import (
        InformerStarted,
        InformerStopped,
        NotMirrored,
        NotSynced,
    )
    from reflet.informer.informer_set import InformerSet
    from reflet.informer.mirror import Mirror
    from reflet.informer.mutation_cache import MutationCache
    from reflet.informer.queues.delta_fifo import DeltaFifo, KnownObjects
    from reflet.informer.queues.ordered_queue import OrderedQueue
    from reflet.informer.queues.queued_deltas import DeltaType, Process, QueueClosed, QueuedDelta
    from reflet.informer.reflector.consistency import Consistency, compare
    from reflet.informer.reflector.health import Liveness
    from reflet.informer.reflector.reflector import Reflector
    from reflet.informer.reflector.source import Source, WatchStream
    from reflet.informer.shared_informer import SharedInformer
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.informer.handlers.change_stream": "ChangeStream",
            "reflet.informer.handlers.changes": "Backlog Change",
            "reflet.informer.handlers.filtering": "filtered",
            "reflet.informer.handlers.registration": "Handler Registration",
            "reflet.informer.informer_errors": (
                "InformerStarted InformerStopped NotMirrored NotSynced"
            ),
            "reflet.informer.informer_set": "InformerSet",
            "reflet.informer.mirror": "Mirror",
            "reflet.informer.mutation_cache": "MutationCache",
            "reflet.informer.queues.delta_fifo": "DeltaFifo KnownObjects",
            "reflet.informer.queues.ordered_queue": "OrderedQueue",
            "reflet.informer.queues.queued_deltas": "DeltaType Process QueueClosed QueuedDelta",
            "reflet.informer.reflector.consistency": "Consistency compare",
            "reflet.informer.reflector.health": "Liveness",
            "reflet.informer.reflector.reflector": "Reflector",
            "reflet.informer.reflector.source": "Source WatchStream",
            "reflet.informer.shared_informer": "SharedInformer",
        },
    )

__all__ = [
    "Backlog", "Change", "ChangeStream", "Consistency", "DeltaFifo", "DeltaType", "Handler",
    "InformerSet", "InformerStarted", "InformerStopped", "KnownObjects", "Liveness", "Mirror",
    "MutationCache", "NotMirrored", "NotSynced", "OrderedQueue", "Process", "QueueClosed",
    "QueuedDelta", "Reflector", "Registration", "SharedInformer", "Source", "WatchStream",
    "compare", "filtered",
]  # fmt: skip
