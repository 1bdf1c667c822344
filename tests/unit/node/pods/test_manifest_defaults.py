from __future__ import annotations

import logging
from contextlib import aclosing
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from reflet.node.pods.manifest_defaults import with_defaults
from reflet.pods.folder_pods import FolderPods
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.pod_scenes import container, only, pod

MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: none, command: [run]}]}
"""
REFUSED = pod(container("Not A Name"))


def test_a_pod_of_a_file_gets_what_the_server_would_have_added() -> None:
    spec = with_defaults(pod(), "here").spec

    assert (spec.restart_policy, spec.termination_grace_period_seconds) == ("Always", 30)


def test_its_containers_get_it_too() -> None:
    assert only(with_defaults(pod(), "here")).termination_message_path == "/dev/termination-log"


def test_what_the_file_says_stays() -> None:
    spec = with_defaults(pod(restartPolicy="Never", terminationGracePeriodSeconds=1), "here").spec

    assert (spec.restart_policy, spec.termination_grace_period_seconds) == ("Never", 1)


def test_the_pod_is_bound_to_this_node_whatever_the_file_says() -> None:
    assert with_defaults(pod(nodeName="elsewhere"), "here").spec.node_name == "here"


def test_the_pod_stays_the_same_pod() -> None:
    given = pod(metadata={"annotations": {"reflet.dev/on-change": "restart"}})

    got = with_defaults(given, "here").metadata

    assert (got.uid, got.namespace, got.name, got.annotations) == (
        given.metadata.uid,
        given.metadata.namespace,
        given.metadata.name,
        given.metadata.annotations,
    )


def test_the_same_pod_gives_the_same_answer_so_that_nothing_is_restarted() -> None:
    once = with_defaults(pod(), "here")

    assert with_defaults(once, "here") == once


def test_a_pod_that_the_server_would_refuse_is_bound_and_otherwise_as_it_was() -> None:
    bound = replace(REFUSED, spec=replace(REFUSED.spec, node_name="here"))

    assert with_defaults(REFUSED, "here") == bound


def test_why_it_would_be_refused_is_logged_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        with_defaults(REFUSED, "here")

    (line,) = caplog.messages
    assert line.startswith("pod shop/web: ")
    assert "spec.containers[0].name" in line


@pytest.mark.virtual_time
async def test_pods_of_a_folder_are_bound_to_the_node_and_completed(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(MANIFEST)
    complete = partial(with_defaults, node="worker-1")
    async with aclosing(FolderPods(tmp_path, complete=complete).news()) as news:
        seen = await anext(news)

    assert isinstance(seen, PodSeen)
    assert (seen.pod.spec.node_name, seen.pod.spec.restart_policy) == ("worker-1", "Always")
