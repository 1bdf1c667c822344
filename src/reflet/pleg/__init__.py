"""What the pods of a node are really doing, and who waits to know.

- ``runtime_status``: pods, containers and sandboxes as a runtime sees them
- ``runtime_protocol``: what a runtime has to answer
- ``status_cache``: the latest status of every pod, and waiting for a newer one
- ``events``: from two looks at a pod to what happened in between, as a table
- ``event_channel``: events on their way to the one who acts on them
- ``relist``: look at the runtime again and again, and tell
- ``pleg_metrics``: the numbers that the relist loop reports
- ``durations``: times as Go writes them, for texts that people search for

Must not know the API server, nor what anybody does about a pod.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.pleg.pod_events import EventType, PodEvent
    from reflet.pleg.relist import Pleg
    from reflet.pleg.runtime_status import (
        PodRuntime,
        RuntimeContainer,
        RuntimeContainerStatus,
        RuntimePod,
        RuntimeSandbox,
        RuntimeState,
        RuntimeStatus,
    )
    from reflet.pleg.status_cache import Inspection, StatusCache, StatusTooOld
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.pleg.pod_events": "EventType PodEvent",
            "reflet.pleg.relist": "Pleg",
            "reflet.pleg.runtime_status": (
                "PodRuntime RuntimeContainer RuntimeContainerStatus RuntimePod "
                "RuntimeSandbox RuntimeState RuntimeStatus"
            ),
            "reflet.pleg.status_cache": "Inspection StatusCache StatusTooOld",
        },
    )

__all__ = [
    "EventType", "Inspection", "Pleg", "PodEvent", "PodRuntime", "RuntimeContainer",
    "RuntimeContainerStatus", "RuntimePod", "RuntimeSandbox", "RuntimeState", "RuntimeStatus",
    "StatusCache", "StatusTooOld",
]  # fmt: skip
