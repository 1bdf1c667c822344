"""Mirroring: keep something in memory equal to a collection on the server, and call its handlers.

- ``mirror``: all of it, as a program first meets it
- ``options``: the options of mirrors, informers and reflectors, typed
- ``shared_informer``: one watch and one store for many handlers (SharedIndexInformer)
- ``namespace_parts``: several namespaces in one store, each with a reflector (multiNamespaceCache)
- ``shared_mirrors``: one mirror for everybody who asks the same question
- ``informer_set``: informers that live together (SharedInformerFactory)
- ``process_deltas``: a reflector's deltas become the store's new state, and changes to tell
- ``mutation_cache``: reading one's own writes (MutationCache)
- ``reflector``: list, watch, and start over (Reflector)
- ``handlers``: who is told, at whose pace (sharedProcessor, processorListener)
- ``queues``: queues between a reflector and a store (DeltaFIFO, RealFIFO)

An event goes ``reflector.loop`` → ``reflector.delivery`` → ``namespace_parts`` →
``shared_informer`` → ``process_deltas`` → the store → ``handlers.handler_set`` →
``handlers.registration`` → the handler.  Nothing here knows HTTP, JSON or any client.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.informer.handlers.change_stream import ChangeStream
    from reflet.informer.handlers.changes import Change, Handler, filtered
    from reflet.informer.handlers.handler_queue import Backlog
    from reflet.informer.handlers.registration import Registration
    from reflet.informer.informer_set import InformerSet
    from reflet.informer.mirror import Mirror, NotMirrored
    from reflet.informer.mutation_cache import MutationCache
    from reflet.informer.options import InformerOptions, MirrorOptions, ReflectorOptions
    from reflet.informer.queues.delta_fifo import (
        DeltaFifo, DeltaType, KnownObjects, Process, QueueClosed, QueuedDelta,
    )
    from reflet.informer.queues.ordered_queue import OrderedQueue
    from reflet.informer.reflector.endings import ReflectorState
    from reflet.informer.reflector.reflector import Consistency, Reflector, compare
    from reflet.informer.reflector.source import Source, WatchStream
    from reflet.informer.shared_informer import (
        InformerStarted, InformerStopped, NotSynced, SharedInformer,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.informer.handlers.change_stream": "ChangeStream",
        "reflet.informer.handlers.changes": "Change Handler filtered",
        "reflet.informer.handlers.handler_queue": "Backlog",
        "reflet.informer.handlers.registration": "Registration",
        "reflet.informer.informer_set": "InformerSet",
        "reflet.informer.mirror": "Mirror NotMirrored",
        "reflet.informer.mutation_cache": "MutationCache",
        "reflet.informer.options": "InformerOptions MirrorOptions ReflectorOptions",
        "reflet.informer.queues.delta_fifo": (
            "DeltaFifo DeltaType KnownObjects Process QueueClosed QueuedDelta"
        ),
        "reflet.informer.queues.ordered_queue": "OrderedQueue",
        "reflet.informer.reflector.endings": "ReflectorState",
        "reflet.informer.reflector.reflector": "Consistency Reflector compare",
        "reflet.informer.reflector.source": "Source WatchStream",
        "reflet.informer.shared_informer": (
            "InformerStarted InformerStopped NotSynced SharedInformer"
        ),
    })

__all__ = [
    "Backlog", "Change", "ChangeStream", "Consistency", "DeltaFifo", "DeltaType", "Handler",
    "InformerOptions", "InformerSet", "InformerStarted", "InformerStopped", "KnownObjects",
    "Mirror", "MirrorOptions", "MutationCache", "NotMirrored", "NotSynced", "OrderedQueue",
    "Process", "QueueClosed", "QueuedDelta", "Reflector", "ReflectorOptions", "ReflectorState",
    "Registration", "SharedInformer", "Source", "WatchStream", "compare", "filtered",
]
