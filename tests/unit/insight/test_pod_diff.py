"""Two pods differ in what their processes get, and in nothing else."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service, ServicePort, ServiceSpec
from reflet.api.meta import ObjectMeta
from reflet.insight.pod_diff import PodDiff, pod_diff
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.templates.service_account_volume import with_token_volume

LEVEL = {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "level"}}}
PASSWORD = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "vault", "key": "p"}}}
VOLUME = {"name": "v", "configMap": {"name": "settings", "defaultMode": 0o644}}


def inputs(
    level: str = "info",
    *,
    password: str = "hush",
    container: dict[str, Any] | None = None,
    volume: dict[str, Any] = VOLUME,
    more: tuple[dict[str, Any], ...] = (),
    services: tuple[Service, ...] = (),
    **spec: Any,
) -> PodInputs:
    main = {"name": "web", "env": [LEVEL, PASSWORD], **(container or {})}
    raw = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "enableServiceLinks": True,
            "containers": [main, *more],
            "volumes": [volume],
            **spec,
        },
    }
    settings, vault = (ObjectMeta(name=name, namespace="shop") for name in ("settings", "vault"))
    objects = (
        ConfigMap(metadata=settings, data={"level": level}),
        Secret(metadata=vault, data={"p": password.encode()}),
    )
    return PodInputs(
        pod=codec.decode(json.dumps(raw).encode(), Pod),
        objects=ObjectsInHand(objects),
        services=services,
        kind="Deployment",
        replicas=3,
    )


def names(diff: PodDiff) -> list[str]:
    return [each.name for each in diff.changes]


def mounted(**more: Any) -> dict[str, Any]:
    return {"env": [], "volumeMounts": [{"name": "v", "mountPath": "/etc/web", **more}]}


def test_nothing_differs() -> None:
    diff = pod_diff(inputs(), inputs())

    assert not diff
    assert diff.containers[0].equal_variables == 2


def test_a_value_of_an_object_needs_a_restart() -> None:
    diff = pod_diff(inputs(), inputs("debug"))

    (change,) = diff.changes
    assert change.before is not None
    assert change.after is not None
    assert (change.name, change.before.data, change.after.data) == ("LEVEL", b"info", b"debug")
    assert (diff.needs_restart, diff.is_rolled, diff.replicas) == (True, False, 3)


def test_a_template_that_differs_replaces_its_pods_anyway() -> None:
    diff = pod_diff(inputs(), inputs("debug", hostname="x"))

    assert (diff.is_rolled, diff.needs_restart) == (True, False)


def test_where_a_value_comes_from_makes_no_difference() -> None:
    literal = [{"name": "LEVEL", "value": "info"}, PASSWORD]

    assert not pod_diff(inputs(), inputs(container={"env": literal}))


def test_files_of_volumes_follow_and_those_by_sub_path_do_not() -> None:
    follows = pod_diff(inputs(container=mounted()), inputs("debug", container=mounted()))
    part = mounted(subPath="level")
    stays = pod_diff(inputs(container=part), inputs("debug", container=part))

    assert (names(follows), follows.needs_restart) == (["/etc/web/level"], False)
    assert (names(stays), stays.needs_restart) == (["/etc/web"], True)


def test_the_mode_of_a_file_counts() -> None:
    private = {"name": "v", "configMap": {"name": "settings", "defaultMode": 0o600}}

    diff = pod_diff(inputs(container=mounted()), inputs(container=mounted(), volume=private))

    assert names(diff) == ["/etc/web/level"]


def test_the_token_that_each_pod_is_given_is_no_difference() -> None:
    """A template does not have it, and its pods do."""
    template = inputs(container=mounted())
    admitted = dataclasses.replace(template, pod=with_token_volume(template.pod), kind="Pod")

    diff = pod_diff(admitted, template)

    assert not diff
    assert not diff.is_rolled


def test_variables_and_containers_come_and_go() -> None:
    more = {"name": "NEW", "value": "x"}
    diff = pod_diff(inputs(), inputs(container={"env": [LEVEL, more]}, more=({"name": "side"},)))

    web, side = diff.containers
    assert [(each.name, each.before is None) for each in web.variables] == [
        ("NEW", True),
        ("PASSWORD", False),
    ]
    assert side.is_new


@pytest.mark.parametrize("is_new", [True, False])
def test_a_workload_that_is_on_one_side_only_is_a_difference(is_new: bool) -> None:
    diff = pod_diff(None, inputs()) if is_new else pod_diff(inputs(), None)

    assert diff
    assert (diff.is_new, diff.is_gone, diff.needs_restart) == (is_new, not is_new, False)


def test_an_error_on_both_sides_leaves_the_rest_to_be_compared() -> None:
    """Secrets are seldom among the files of a repository."""
    unknown = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "nope", "key": "k"}}}
    env = {"env": [unknown, LEVEL]}

    diff = pod_diff(inputs(container=env), inputs("debug", container=env))

    assert names(diff) == ["LEVEL"]
    assert diff.containers[0].error_before == diff.containers[0].error_after != ""


def test_an_error_that_comes_is_a_difference() -> None:
    broken = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "nope", "key": "k"}}}

    assert pod_diff(inputs(container={"env": []}), inputs(container={"env": [broken]}))


def test_variables_of_services_count_if_that_is_asked_for() -> None:
    def service(address: str) -> Service:
        spec = ServiceSpec(cluster_ip=address, ports=(ServicePort(port=80),))
        return Service(metadata=ObjectMeta(name="db", namespace="shop"), spec=spec)

    sides = [inputs(services=(service(address),)) for address in ("10.0.0.1", "10.0.0.2")]

    assert not pod_diff(*sides)
    assert "DB_SERVICE_HOST" in names(pod_diff(*sides, services=True))


def test_no_representation_shows_a_value() -> None:
    diff = pod_diff(inputs(), inputs(password="other-hush"))

    assert "hush" not in repr(diff)
    assert names(diff) == ["PASSWORD"]
