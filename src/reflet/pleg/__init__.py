"""What the pods of a node are really doing, and who waits to know.

- ``runtime_status``: pods, containers and sandboxes as a runtime sees them, and what it answers
- ``relist``: GenericPLEG: look at the runtime again and again, and tell
- ``evented``: EventedPLEG: look when the runtime says that something happened
- ``compute_events``: from two looks at a pod to what happened in between, as a table
- ``status_cache``: PodCache: the latest status of every pod, and waiting for a newer one

Knows neither the API server nor what anybody does about a pod.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.pleg.compute_events import EventChannel, PodEvent, PodEventType
    from reflet.pleg.evented import EventedPleg, Pace
    from reflet.pleg.relist import Pleg
    from reflet.pleg.runtime_status import (
        EventedRuntime, PodRuntime, RuntimeContainer, RuntimeContainerStatus, RuntimeEvent,
        RuntimePod, RuntimeSandbox, RuntimeState, RuntimeStatus,
    )
    from reflet.pleg.status_cache import Inspection, StatusCache, StatusTooOld
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.pleg.compute_events": "EventChannel PodEvent PodEventType",
        "reflet.pleg.evented": "EventedPleg Pace",
        "reflet.pleg.relist": "Pleg",
        "reflet.pleg.runtime_status": (
            "EventedRuntime PodRuntime RuntimeContainer RuntimeContainerStatus RuntimeEvent "
            "RuntimePod RuntimeSandbox RuntimeState RuntimeStatus"
        ),
        "reflet.pleg.status_cache": "Inspection StatusCache StatusTooOld",
    })

__all__ = [
    "EventChannel", "EventedPleg", "EventedRuntime", "Inspection", "Pace", "Pleg", "PodEvent",
    "PodEventType", "PodRuntime", "RuntimeContainer", "RuntimeContainerStatus", "RuntimeEvent",
    "RuntimePod", "RuntimeSandbox", "RuntimeState", "RuntimeStatus", "StatusCache", "StatusTooOld",
]
