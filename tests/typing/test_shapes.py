"""Who fits which protocol: the functions are for the type checker, the tests for their members."""

from __future__ import annotations

import inspect
from typing import assert_type

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.status import Status
from reflet.api.unstructured import AnyObject
from reflet.blocking import BlockingResource
from reflet.client.resource_client import ResourceClient
from reflet.client.watch import Watch
from reflet.cri.cri_runtime import CriRuntime
from reflet.informer.reflector.reflector import Held
from reflet.informer.reflector.source import Source, WatchStream
from reflet.pleg.runtime_status import EventedRuntime
from reflet.store.deltas import Sink
from reflet.store.store import Store
from reflet.testing.scripted_source import ScriptedSource, ScriptedWatch


def client_is_a_source(client: ResourceClient[ConfigMap]) -> Source[ConfigMap]:
    return client


def raw_client_is_a_source(client: ResourceClient[AnyObject]) -> Source[AnyObject]:
    return client


def watch_is_a_watch_stream(watch: Watch[ConfigMap]) -> WatchStream[ConfigMap]:
    return watch


def scripted_source_is_a_source(source: ScriptedSource[ConfigMap]) -> Source[ConfigMap]:
    return source


def scripted_watch_is_a_watch_stream(watch: ScriptedWatch[ConfigMap]) -> WatchStream[ConfigMap]:
    return watch


def cri_runtime_has_events(runtime: CriRuntime) -> EventedRuntime:
    return runtime


def store_is_a_sink(store: Store[ConfigMap]) -> Sink[ConfigMap]:
    return store


def store_can_be_compared(store: Store[ConfigMap]) -> Held[ConfigMap]:
    return store


async def parts_of_objects_may_be_of_another_kind(client: ResourceClient[ConfigMap]) -> None:
    assert_type(await client.get("a"), ConfigMap)
    assert_type(await client.get("a", subresource="status"), ConfigMap)
    assert_type(await client.get("a", subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(await client.create({}, name="a"), ConfigMap)
    assert_type(
        await client.create({}, name="a", subresource="eviction"), ConfigMap | Status | AnyObject
    )
    assert_type(await client.replace({}), ConfigMap)
    assert_type(await client.replace({}, subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(await client.patch("a", {}, subresource="status"), ConfigMap)
    assert_type(await client.patch("a", {}, subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(await client.apply({}, field_manager="me"), ConfigMap)
    assert_type(
        await client.apply({}, field_manager="me", subresource="scale"),
        ConfigMap | Status | AnyObject,
    )


def waiting_for_parts_of_objects_gives_the_same(client: BlockingResource[ConfigMap]) -> None:
    assert_type(client.get("a"), ConfigMap)
    assert_type(client.get("a", subresource="status"), ConfigMap)
    assert_type(client.get("a", subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(client.create({}, subresource="eviction"), ConfigMap | Status | AnyObject)
    assert_type(client.replace({}, subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(client.patch("a", {}, subresource="scale"), ConfigMap | Status | AnyObject)
    assert_type(
        client.apply({}, field_manager="me", subresource="scale"), ConfigMap | Status | AnyObject
    )


def members(protocol: type) -> set[str]:
    return {
        name
        for name, member in vars(protocol).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [
        (ResourceClient, Source),
        (ScriptedSource, Source),
        (Store, Sink),
        (Store, Held),
    ],
)
def test_a_class_has_the_methods_of_its_protocol(kind: type, protocol: type) -> None:
    assert members(protocol)
    assert members(protocol) <= {name for name, _ in inspect.getmembers(kind, callable)}


def test_a_watch_of_the_client_takes_the_silence_that_a_source_is_given() -> None:
    assert "silence" in inspect.signature(ResourceClient.watch).parameters
