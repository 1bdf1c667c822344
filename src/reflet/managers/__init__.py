"""The kubelet's managers: the ConfigMaps and Secrets of registered pods, ready to read.

- ``manager``: ConfigMapManager and SecretManager; register pods, read what they refer to
- ``object_changes``: being told when an object that a registered pod uses has changed
- ``registry``: registered pods, and the references that follow from them
- ``strategies``: from the name of a strategy to its store, and the options of managers
- ``object_store``: what a strategy has to answer, and what it asks of a server
- ``ttl``: the strategy ``cache``, a request when what is kept is too old
- ``watch_based``: the strategies ``watch`` and ``auto``, memory that streams keep fresh
- ``object_entry``: one object of those, and its states

The streams of ``watch`` and ``auto`` are in ``watches``.  Where pods come from, and who registers
them, is ``reflet.pods``; what is computed from the objects is ``reflet.podconfig``.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
    from reflet.managers.object_changes import ObjectChange, ObjectChanges
    from reflet.managers.object_entry import EntryState
    from reflet.managers.object_store import ObjectStore
    from reflet.managers.strategies import ManagerOptions, Strategy, StrategyOptions
    from reflet.managers.watch_based import IdleRule
    from reflet.managers.watches.stream_plan import (
        Decision, NamespaceRefusal, OpenStream, Shape, StreamLimits, StreamPlan,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.managers.manager": "ConfigMapManager ObjectManager SecretManager",
        "reflet.managers.object_changes": "ObjectChange ObjectChanges",
        "reflet.managers.object_entry": "EntryState",
        "reflet.managers.object_store": "ObjectStore",
        "reflet.managers.strategies": "ManagerOptions Strategy StrategyOptions",
        "reflet.managers.watch_based": "IdleRule",
        "reflet.managers.watches.stream_plan": (
            "Decision NamespaceRefusal OpenStream Shape StreamLimits StreamPlan"
        ),
    })

__all__ = [
    "ConfigMapManager", "Decision", "EntryState", "IdleRule", "ManagerOptions", "NamespaceRefusal",
    "ObjectChange", "ObjectChanges", "ObjectManager", "ObjectStore", "OpenStream", "SecretManager",
    "Shape", "Strategy", "StrategyOptions", "StreamLimits", "StreamPlan",
]
