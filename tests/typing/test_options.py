"""Options are typed through every layer: mypy would call a superfluous ``ignore`` below an error.

The functions are for the type checker alone; what a call does with a misspelled option is in
tests/unit/informer/test_options.py.
"""

from __future__ import annotations

from typing import assert_type

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.api.unstructured import AnyObject
from reflet.blocking import BlockingCluster
from reflet.blocking.mirror import BlockingMirror
from reflet.cluster import Cluster
from reflet.informer.informer_set import InformerSet, SourceFor
from reflet.informer.mirror import Mirror
from reflet.informer.reflector.source import Source
from reflet.informer.shared_informer import SharedInformer


def colours(item: ConfigMap) -> list[str]:
    return [item.data["color"]]


def options_are_completed_and_checked(cluster: Cluster) -> None:
    assert_type(
        cluster.mirror(ConfigMap, indexers={"color": colours}, resync_every=30), Mirror[ConfigMap]
    )
    assert_type(cluster.mirror("pods", raw=True, label_selector="app=web"), Mirror[AnyObject])
    assert_type(cluster.mirror(ConfigMap, namespace=["a", "b"], shared=True), Mirror[ConfigMap])
    cluster.mirror(ConfigMap, indexerz={})  # type: ignore[call-overload]  # a typo
    cluster.mirror(ConfigMap, resync_every="30s")  # type: ignore[call-overload]  # seconds
    cluster.mirror(ConfigMap, queue="lifo")  # type: ignore[call-overload]  # no such queue


def and_those_of_the_face_that_waits(cluster: BlockingCluster) -> None:
    assert_type(cluster.mirror(ConfigMap, streaming=False), BlockingMirror[ConfigMap])
    cluster.mirror(ConfigMap, indexerz={})  # type: ignore[call-overload]  # a typo


def and_those_of_every_layer(source: Source[ConfigMap], source_for: SourceFor) -> None:
    Mirror(source, CONFIG_MAPS, indexers={"color": colours}, page_size=100)
    Mirror(source, CONFIG_MAPS, indexerz={})  # type: ignore[call-arg]  # a typo
    SharedInformer(source, name="configmaps", streaming=False)
    SharedInformer(source, name="configmaps", streamin=False)  # type: ignore[call-arg]  # a typo
    InformerSet(source_for, resync_every=30)
    InformerSet(source_for, resync_evry=30)  # type: ignore[call-arg]  # a typo
    InformerSet(source_for, label_selector="a=b")  # type: ignore[call-arg]  # of each informer
