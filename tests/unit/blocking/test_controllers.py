"""Controllers and leader election for programs without an event loop."""

from __future__ import annotations

import inspect
import queue
import signal
import threading
from collections.abc import Iterator

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.small_kinds import Lease
from reflet.blocking import BlockingCluster, connect
from reflet.controllers import LeaderElection, LeadershipLost, Requeue, mapped
from reflet.controllers.leader_election import LeaderOptions
from reflet.errors import MisuseError
from reflet.testing.pytest_plugin import RunningServer

PATIENCE = 30.0  # seconds


@pytest.fixture
def cluster(reflet_server: RunningServer) -> Iterator[BlockingCluster]:
    with connect(kubeconfig=str(reflet_server.kubeconfig)) as opened:
        yield opened


def config_map(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}}


def test_a_plain_function_is_called_in_a_thread_until_stop(cluster: BlockingCluster) -> None:
    seen: queue.Queue[tuple[str, str]] = queue.Queue()

    def work_on(key: str) -> Requeue:
        seen.put((key, threading.current_thread().name))
        return Requeue(after=3600)

    with cluster.mirror(ConfigMap) as config_maps, cluster.mirror(Secret) as secrets:
        controller = cluster.controller(
            config_maps,
            work_on,
            name="workers",
            watches=[mapped(secrets, lambda item: [f"default/{item.metadata.name}"])],
        )
        running = threading.Thread(target=controller.run)
        running.start()
        cluster.resource(ConfigMap).create(config_map("a"))
        key, thread = seen.get(timeout=PATIENCE)
        cluster.resource(Secret).create(config_map("b"))
        of_the_secret, _ = seen.get(timeout=PATIENCE)
        was_ready = controller.is_ready
        controller.stop()
        running.join()

    assert (key, of_the_secret, was_ready) == ("default/a", "default/b", True)
    assert thread.startswith("workers")
    assert (controller.is_ready, controller.longest_call()) == (False, 0.0)


def test_ctrl_c_ends_reconcile_when_the_call_under_way_has_ended(cluster: BlockingCluster) -> None:
    ended: list[str] = []

    def interrupt(key: str) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        ended.append(key)

    cluster.resource(ConfigMap).create(config_map("a"))
    with cluster.mirror(ConfigMap) as config_maps, pytest.raises(KeyboardInterrupt):
        cluster.reconcile(config_maps, interrupt)

    assert ended == ["default/a"]


def test_closing_the_cluster_ends_reconcile(reflet_server: RunningServer) -> None:
    called = threading.Event()
    cluster = connect(kubeconfig=str(reflet_server.kubeconfig))
    cluster.resource(ConfigMap).create(config_map("a"))

    def close() -> None:
        called.wait(PATIENCE)
        cluster.close()

    closing = threading.Thread(target=close)
    closing.start()
    with cluster.mirror(ConfigMap) as config_maps, pytest.raises(MisuseError, match="was closed"):
        cluster.reconcile(config_maps, lambda _: called.set())
    closing.join()


def test_the_leader_leads_while_the_block_runs(cluster: BlockingCluster) -> None:
    with cluster.leader("my-operator", identity="me") as leader:
        leader.check()
        held = cluster.resource(Lease).get("my-operator").spec.holder_identity
        facts = (leader.is_leading, leader.holder, leader.identity)

    assert (held, facts) == ("me", (True, "me", "me"))
    assert cluster.resource(Lease).get("my-operator").spec.holder_identity is None
    with pytest.raises(LeadershipLost):
        leader.check()


def test_a_block_that_outlives_its_leadership_is_told_at_its_end(cluster: BlockingCluster) -> None:
    leases = cluster.resource(Lease)

    def lead_until_another_does() -> None:
        with cluster.leader("my-operator", renew_deadline=1, retry_period=0.1) as leader:
            while leader.is_leading:
                leases.patch("my-operator", {"spec": {"holderIdentity": "another"}})

    with pytest.raises(LeadershipLost, match="no longer leads my-operator"):
        lead_until_another_does()


def test_what_the_block_raises_goes_on(cluster: BlockingCluster) -> None:
    with pytest.raises(ZeroDivisionError), cluster.leader("my-operator"):
        raise ZeroDivisionError


def test_the_options_of_a_leader_are_those_of_the_election() -> None:
    taken = inspect.signature(LeaderElection).parameters

    assert set(LeaderOptions.__annotations__) == set(taken) - {"client", "name"}


def test_a_function_that_would_wait_for_itself_is_refused(reflet_server: RunningServer) -> None:
    refused: queue.Queue[BaseException] = queue.Queue()
    cluster = connect(kubeconfig=str(reflet_server.kubeconfig))
    cluster.resource(ConfigMap).create(config_map("a"))

    def close(_: str) -> None:
        try:
            cluster.close()
        except MisuseError as error:
            refused.put(error)

    with cluster, cluster.mirror(ConfigMap) as config_maps:
        controller = cluster.controller(config_maps, close)
        running = threading.Thread(target=controller.run, daemon=True)
        running.start()
        words = str(refused.get(timeout=PATIENCE))
        controller.stop()
        running.join()

    assert "cannot close it or its cluster" in words
