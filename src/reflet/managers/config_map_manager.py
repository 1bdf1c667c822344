"""The ConfigMaps of registered pods.

Owns: nothing but the kind; what managers do is ``object_manager``.
"""

from __future__ import annotations

from typing import Any

from reflet.api.config import ConfigMap
from reflet.managers.object_manager import ObjectManager
from reflet.managers.object_server import ObjectServer
from reflet.resolution.references import config_map_names


class ConfigMapManager(ObjectManager[ConfigMap]):
    """The ConfigMaps that registered pods refer to, ready to read while the context is open.

    ::

        async with ConfigMapManager(cluster) as config_maps:
            config_maps.register_pod(pod)                        # never waits
            settings = await config_maps.get("shop", "settings")
            async for change in config_maps.subscribe():
                print(change.namespace, change.name, change.pods)

    *strategy* says how: ``watch`` opens a stream for each object, as the kubelet does; ``auto``
    gives the same answers with one stream for a whole namespace where that is allowed and worth
    it; ``cache`` asks again when what it has is too old; ``get`` asks each time.  *options* are
    those of ``StrategyOptions``.
    """

    def __init__(self, cluster: ObjectServer, *, strategy: str = "watch", **options: Any) -> None:
        super().__init__(
            cluster,
            ConfigMap,
            word="configmap",
            names_of=config_map_names,
            strategy=strategy,
            **options,
        )
