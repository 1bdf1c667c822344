"""Reflet for programs without an event loop.

- ``cluster``, ``resource``: the client's verbs, each waiting for its answer
- ``pod_streams``: logs, commands, streams and ports of pods
- ``mirror``: a collection in memory
- ``controllers``: functions that are called when objects change, and leader election
- ``managers``: the ConfigMaps and Secrets of registered pods
- ``loop_thread``: the one event loop, on a thread of its own, and what a fork leaves of it

Everything here waits by handing work to that loop, so any thread may call it; nothing may be
called from inside an event loop, which would wait for itself.

::

    with reflet.blocking.connect() as cluster:
        settings = cluster.resource(ConfigMap, namespace="shop").get("settings")
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.blocking.cluster import BlockingCluster, connect
    from reflet.blocking.controllers import BlockingController, BlockingLeader
    from reflet.blocking.managers import BlockingManager
    from reflet.blocking.mirror import BlockingMirror
    from reflet.blocking.pod_streams import BlockingAttachedContainer, BlockingProcess
    from reflet.blocking.resource import BlockingResource
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.blocking.cluster": "BlockingCluster connect",
        "reflet.blocking.controllers": "BlockingController BlockingLeader",
        "reflet.blocking.managers": "BlockingManager",
        "reflet.blocking.mirror": "BlockingMirror",
        "reflet.blocking.pod_streams": "BlockingAttachedContainer BlockingProcess",
        "reflet.blocking.resource": "BlockingResource",
    })

__all__ = [
    "BlockingAttachedContainer", "BlockingCluster", "BlockingController", "BlockingLeader",
    "BlockingManager", "BlockingMirror", "BlockingProcess", "BlockingResource", "connect",
]
