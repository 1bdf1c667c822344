"""Who fits the protocols of managers: the functions are for the type checker."""

from __future__ import annotations

import inspect

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.client.client import Client
from reflet.client.resource_client import ResourceClient
from reflet.cluster import Cluster
from reflet.informer.reflector.source import Source
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.managers.object_changes import ObjectChanges, PodWaker
from reflet.managers.object_store import Follower, ObjectClient, ObjectServer, ObjectStore
from reflet.managers.strategies import DirectObjects
from reflet.managers.ttl import ExpiringObjects
from reflet.managers.watch_based import WatchedObjects
from reflet.managers.watches.namespace_watch import NamespaceFilter
from reflet.managers.watches.streams import AutoStreams, IndividualStreams, Streams
from reflet.podconfig.last_known_objects import Readable
from reflet.pods.folder_pods import FolderPods
from reflet.pods.mirror_pods import PodWriter
from reflet.pods.pod_sources import PodSource, ServedPods
from reflet.pods.registrar import PodListener


def cluster_is_an_object_server(cluster: Cluster) -> ObjectServer:
    return cluster


def client_is_an_object_client(client: ResourceClient[Secret]) -> ObjectClient[Secret]:
    return client


def client_writes_pods(client: ResourceClient[Pod]) -> PodWriter:
    return client


def watched_objects_are_a_store(objects: WatchedObjects[Secret]) -> ObjectStore[Secret]:
    return objects


def expiring_objects_are_a_store(objects: ExpiringObjects[Secret]) -> ObjectStore[Secret]:
    return objects


def direct_objects_are_a_store(objects: DirectObjects[Secret]) -> ObjectStore[Secret]:
    return objects


def individual_streams_are_streams(streams: IndividualStreams[Secret]) -> Streams[Secret]:
    return streams


def auto_streams_are_streams(streams: AutoStreams[Secret]) -> Streams[Secret]:
    return streams


def a_manager_listens(manager: ConfigMapManager) -> PodListener:
    return manager


def a_manager_is_readable(manager: ConfigMapManager) -> Readable[ConfigMap]:
    return manager


def changes_follow(changes: ObjectChanges[ConfigMap]) -> Follower:
    return changes


def a_waker_follows(waker: PodWaker) -> Follower:
    return waker


def a_folder_is_a_source(pods: FolderPods) -> PodSource:
    return pods


def a_server_is_a_source(pods: ServedPods) -> PodSource:
    return pods


def members(protocol: type) -> set[str]:
    return {
        name
        for name, member in vars(protocol).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [
        (Client, ObjectServer),
        (ResourceClient, ObjectClient),
        (ResourceClient, PodWriter),
        (WatchedObjects, ObjectStore),
        (ExpiringObjects, ObjectStore),
        (DirectObjects, ObjectStore),
        (IndividualStreams, Streams),
        (AutoStreams, Streams),
        (SecretManager, PodListener),
        (ObjectChanges, Follower),
        (PodWaker, Follower),
        (FolderPods, PodSource),
        (ServedPods, PodSource),
        (NamespaceFilter, Source),
    ],
)
def test_a_class_has_the_methods_of_its_protocol(kind: type, protocol: type) -> None:
    assert members(protocol)
    assert members(protocol) <= {name for name, _ in inspect.getmembers(kind, callable)}
