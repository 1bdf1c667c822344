"""Threads, real sockets and the end of a waiting cluster."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from reflet.api.core.config import ConfigMap
from reflet.blocking import BlockingCluster, connect
from reflet.blocking.mirror import BlockingMirror
from reflet.errors import (
    MisuseError,
    TransportError,
)
from reflet.informer.handlers.changes import Change
from reflet.transport.config.settings import ConnectionSettings
from tests.unit.blocking.cluster_scenes import (
    ADDED,
    LIST,
    ScriptedCluster,
    cluster_with,
    page,
    serving,
    version,
)
from tests.unit.blocking.loop_scenes import fail
from tests.unit.transport.scripted_http1 import Http1Peer

# The end


def test_closing_closes_the_connection_and_ends_the_thread() -> None:
    before = threading.active_count()
    with cluster_with() as (cluster, transport):
        cluster.close()
        cluster.close()

        assert transport.closed
        assert threading.active_count() == before


def test_a_closed_cluster_says_so() -> None:
    with cluster_with() as (cluster, _):
        found = cluster.resource(ConfigMap)
        cluster.close()

        with pytest.raises(MisuseError, match="reflet https://scripted is closed"):
            found.get("settings")
        with (
            pytest.raises(MisuseError, match="reflet https://scripted is closed"),
            found.watch(),
        ):
            pytest.fail("it was closed")


def test_pages_that_outlive_their_cluster_are_dropped_quietly() -> None:
    with cluster_with(page("more"), page("")) as (cluster, _):
        pages = cluster.resource(ConfigMap).pages(page_size=1)
        next(pages)
    del pages


def test_a_connection_that_cannot_be_closed_still_ends_the_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Sticky(ScriptedCluster):
        async def close(self) -> None:
            raise TransportError("sticky")

    before = threading.active_count()
    BlockingCluster(Sticky()).close()

    assert threading.active_count() == before
    assert "sticky" in caplog.text


def test_threads_share_a_real_connection() -> None:
    with (
        serving(version) as server,
        connect(ConnectionSettings(server=server.url)) as cluster,
        ThreadPoolExecutor(8) as callers,
    ):
        versions = list(callers.map(lambda _: cluster.version().git_version, range(50)))

    assert versions == ["/version"] * 50


async def one_event(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    peer.chunk(json.dumps(ADDED).encode() + b"\n")
    await peer.client_left()


def test_a_watch_that_the_end_of_the_cluster_ends_is_left_quietly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        serving(one_event) as server,
        connect(ConnectionSettings(server=server.url)) as cluster,
        cluster.resource(ConfigMap).watch() as watch,
    ):
        next(watch)
        cluster.close()

        with pytest.raises(MisuseError, match="is closed"):
            next(watch)
    assert caplog.records == []


def test_closing_ends_a_watch_that_another_thread_reads() -> None:
    reading = threading.Event()

    def read(cluster: BlockingCluster) -> None:
        with cluster.resource(ConfigMap).watch() as watch:
            next(watch)
            reading.set()
            next(watch)

    with serving(one_event) as server, ThreadPoolExecutor(1) as other:
        cluster = connect(ConnectionSettings(server=server.url))
        reader = other.submit(read, cluster)
        assert reading.wait(30)
        cluster.close()

        with pytest.raises(MisuseError, match="was closed"):
            reader.result(timeout=30)


def test_an_interrupted_watch_leaves_the_server() -> None:
    async def quiet(peer: Http1Peer) -> None:
        await peer.request()
        peer.chunked()
        await peer.client_left()
        left.set()

    left = threading.Event()
    with (
        serving(quiet) as server,
        connect(ConnectionSettings(server=server.url)) as cluster,
    ):
        with pytest.raises(KeyboardInterrupt), cluster.resource(ConfigMap).watch():
            raise KeyboardInterrupt

        assert left.wait(30)


# A cluster and its mirrors


async def one_config_map(peer: Http1Peer) -> None:
    """Serves a list, a watch that brings nothing, and a version."""
    while True:
        target = (await peer.request()).target
        if "watch=" in target:
            peer.chunked()
            await peer.client_left()
            return
        peer.answer(
            json.dumps({"gitVersion": "v1.36.0"} if target == "/version" else LIST).encode()
        )


@contextmanager
def mirrored() -> Iterator[tuple[BlockingCluster, BlockingMirror[ConfigMap]]]:
    with (
        serving(one_config_map) as server,
        connect(ConnectionSettings(server=server.url)) as cluster,
        cluster.mirror(ConfigMap, streaming=False) as mirror,
    ):
        mirror.synced(timeout=30)
        yield cluster, mirror


def test_a_mirror_is_left_before_its_connection_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with mirrored() as (cluster, mirror):
        cluster.close()

        assert not mirror.is_live()
    assert caplog.records == []


def test_the_error_of_a_block_comes_through_though_the_cluster_is_closed() -> None:
    with pytest.raises(LookupError), mirrored() as (cluster, _):
        fail(after=cluster.close)


def test_a_handler_that_closes_its_cluster_is_refused_and_the_cluster_stays_open() -> None:
    refused = threading.Event()

    with mirrored() as (cluster, mirror):

        def handler(change: Change[ConfigMap]) -> None:
            try:
                cluster.close()
            except MisuseError:
                refused.set()

        mirror.add_handler(handler)

        assert refused.wait(30)
        assert cluster.version().git_version == "v1.36.0"
