from __future__ import annotations

import tracemalloc
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.node.pods.admission import Allowance, RunAs
from reflet.node.process_launch import PreparedStart, gate_group, prepare_start
from reflet.node.process_runtime import fingerprint_of
from reflet.node.status.container_statuses import Waiting
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from tests.unit.node.pod_scenes import container, only, pod

NOBODY = Allowance(own_user=0, own_group=0, default=RunAs(65534, 65534))
OBJECTS = ObjectsInHand(
    [ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data={"color": "red"})]
)


def prepared(**fields: Any) -> PreparedStart | Waiting:
    asked = pod(container(**fields), enableServiceLinks=True)
    environment = resolve_environment(asked, "main", OBJECTS)
    return prepare_start(asked, only(asked), environment, NOBODY)


def started(**fields: Any) -> PreparedStart:
    start = prepared(**fields)
    assert isinstance(start, PreparedStart)
    return start


def test_the_command_has_its_variables_put_in() -> None:
    start = started(
        command=["serve", "$(COLOR)"],
        args=["--root=$(REFLET_ROOT)", "$(NOTHING)", "$$(COLOR)"],
        env=[{"name": "COLOR", "value": "red"}],
    )

    assert start.arguments("/r") == ("serve", "red", "--root=/r", "$(NOTHING)", "$(COLOR)")


def test_a_process_gets_what_an_image_would_have_given_unless_the_pod_says_otherwise() -> None:
    usual = started().environment("/r")
    own = started(env=[{"name": "PATH", "value": "/opt"}]).environment("/r")

    assert usual["HOSTNAME"] == "web"
    assert usual["PATH"].endswith("/usr/bin:/sbin:/bin")
    assert (usual["REFLET_ROOT"], own["PATH"]) == ("/r", "/opt")


def test_a_missing_key_keeps_a_container_waiting_in_the_kubelets_words() -> None:
    reference = {"configMapKeyRef": {"name": "settings", "key": "size"}}

    waiting = prepared(env=[{"name": "SIZE", "valueFrom": reference}])

    assert waiting == Waiting(
        "CreateContainerConfigError", "couldn't find key size in ConfigMap shop/settings"
    )


def test_mounts_that_cannot_be_shown_keep_a_container_waiting() -> None:
    waiting = prepared(volumeMounts=[{"name": "v", "mountPath": "/"}])

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "CreateContainerConfigError"


def test_variables_are_not_shown() -> None:
    start = started(env=[{"name": "KEY", "value": "s3cret"}])

    assert "s3cret" not in repr(start).replace("EnvVar(name='KEY', value='s3cret')", "")


def test_another_image_is_the_same_container() -> None:
    first, second = only(pod(container(image="a"))), only(pod(container(image="b")))
    other = only(pod(container(args=["x"])))

    assert fingerprint_of(first) == fingerprint_of(second)
    assert fingerprint_of(first) != fingerprint_of(other)


def test_the_group_of_the_first_container_may_enter_the_pods_folder() -> None:
    assert gate_group(pod(), NOBODY) == 65534
    assert gate_group(pod(), Allowance(own_user=1000)) is None


def test_a_command_that_no_process_could_be_given_keeps_a_container_waiting() -> None:
    tracemalloc.start()
    try:
        waiting = prepared(
            env=[{"name": "A", "value": "secret" * 100_000}], args=["$(A)", "$(REFLET_ROOT)"] * 100
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert isinstance(waiting, Waiting)
    assert waiting.reason == "CreateContainerConfigError"
    assert waiting.message.startswith("command and args have 6000")
    assert "secret" not in waiting.message
    assert peak < 8 << 20
