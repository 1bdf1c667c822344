"""The kubelet's managers: the ConfigMaps and Secrets of registered pods, ready to read.

What programs use:

- ``config_map_manager``, ``secret_manager``: register pods, read what they refer to
- ``object_manager``: what both have in common
- ``object_changes``: being told when an object that a registered pod uses has changed
- ``pod_objects``: everything that one pod refers to, for ``reflet.resolution``
- ``pod_sources``, ``folder_pods``: where pods come from, and registering them as they come
- ``pod_manager``, ``mirror_pods``: the bookkeeping of static and mirror pods

Who refers to what:

- ``registry``: registered pods, and the references that follow from them

How objects are obtained, one strategy behind each store:

- ``object_store``: what a strategy has to answer
- ``object_server``: what a strategy asks of a server
- ``strategies``: from a name to a strategy
- ``direct_objects``: ``get``, a request each time
- ``expiring_objects``, ``node_ttl``: ``cache``, a request when what is kept is too old
- ``watched_objects``: ``watch`` and ``auto``, memory that streams keep fresh
- ``object_entry``, ``idle_watches``: one kept object, and when nobody needs it fresh
- ``individual_streams``: a stream for each object
- ``auto_objects``, ``namespace_streams``, ``namespace_watch``, ``namespace_filter``: one stream
  for all of a namespace where that is allowed and worth it
- ``stream_plan``: which of the two, and why

Must not know how references look inside a pod, nor what is done with the objects.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
    from reflet.managers.object_changes import ObjectChange, ObjectChanges
    from reflet.managers.object_store import ObjectStore
    from reflet.managers.pod_objects import objects_of
    from reflet.managers.strategies import Strategy, StrategyOptions
    from reflet.managers.watched import IdleRule
    from reflet.managers.watches.stream_plan import (
        Decision,
        OpenStream,
        Refusal,
        Shape,
        StreamLimits,
        StreamPlan,
    )
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.managers.manager": "ConfigMapManager ObjectManager SecretManager",
            "reflet.managers.object_changes": "ObjectChange ObjectChanges",
            "reflet.managers.object_store": "ObjectStore",
            "reflet.managers.pod_objects": "objects_of",
            "reflet.managers.strategies": "Strategy StrategyOptions",
            "reflet.managers.watched": "IdleRule",
            "reflet.managers.watches.stream_plan": (
                "Decision OpenStream Refusal Shape StreamLimits StreamPlan"
            ),
        },
    )

__all__ = [
    "ConfigMapManager", "Decision", "IdleRule", "ObjectChange", "ObjectChanges", "ObjectManager",
    "ObjectStore", "OpenStream", "Refusal", "SecretManager", "Shape", "Strategy", "StrategyOptions",
    "StreamLimits", "StreamPlan", "objects_of",
]  # fmt: skip
