from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from reflet.apirules.validation import workloads as rules
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of, pod_body

LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": pod_body()["spec"]}
USUAL = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}

Check = Callable[[Any, FieldErrors], None]


def made(plural: str, group: str = "apps", **spec: Any) -> dict[str, Any]:
    kind = kind_of(plural, group)
    return created(kind, {"metadata": {"name": "x"}, "spec": copy.deepcopy(USUAL) | spec})


def job(**spec: Any) -> dict[str, Any]:
    pods = {"spec": TEMPLATE["spec"] | {"restartPolicy": "Never"}}
    body = {"metadata": {"name": "x"}, "spec": {"template": copy.deepcopy(pods)} | spec}
    return created(kind_of("jobs", "batch"), body)


def wrong_with(check: Check, document: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check(document, errors)
    return complaints(errors)


WORKLOADS: list[tuple[str, Check]] = [
    ("deployments", rules.check_deployment),
    ("replicasets", rules.check_replica_set),
    ("statefulsets", rules.check_stateful_set),
    ("daemonsets", rules.check_daemon_set),
]


@pytest.mark.parametrize(("plural", "check"), WORKLOADS)
def test_a_usual_workload_is_fine(plural: str, check: Check) -> None:
    assert wrong_with(check, made(plural)) == []


@pytest.mark.parametrize(("plural", "check"), WORKLOADS)
def test_a_workload_selects_its_own_pods(plural: str, check: Check) -> None:
    other = {"matchLabels": {"app": "other"}}

    assert wrong_with(check, made(plural, selector=other)) == [
        (
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not '
            "match template `labels`"
        )
    ]


@pytest.mark.parametrize(("plural", "check"), WORKLOADS)
def test_pods_of_a_workload_always_restart(plural: str, check: Check) -> None:
    template = {
        "metadata": {"labels": LABELS},
        "spec": TEMPLATE["spec"] | {"restartPolicy": "Never"},
    }

    assert wrong_with(check, made(plural, template=template)) == [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
    ]


@pytest.mark.parametrize(
    ("strategy", "wrong"),
    [
        ({"type": "Recreate"}, []),
        (
            {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "101%"}},
            ["must not be greater than 100%"],
        ),
        (
            {"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": 0}},
            ["may not be 0 when `maxSurge` is 0"],
        ),
        ({"rollingUpdate": {"maxSurge": -1}}, ["must be greater than or equal to 0"]),
    ],
)
def test_strategies_have_their_rules(strategy: dict[str, Any], wrong: list[str]) -> None:
    found = wrong_with(rules.check_deployment, made("deployments", strategy=strategy))

    assert [complaint.rpartition(": ")[2] for complaint in found] == wrong


@pytest.mark.parametrize(
    ("rolling", "wrong"),
    [
        ({"maxUnavailable": "50%"}, []),
        ({"maxUnavailable": 0}, ["cannot be 0 when maxSurge is 0"]),
        ({"maxSurge": 1}, ["may not be set when maxUnavailable is non-zero"]),
        ({"maxUnavailable": "101%"}, ["must not be greater than 100%"]),
    ],
)
def test_daemons_are_replaced_before_or_after(rolling: dict[str, Any], wrong: list[str]) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    found = wrong_with(rules.check_daemon_set, made("daemonsets", updateStrategy=strategy))

    assert [complaint.rpartition(": ")[2] for complaint in found] == wrong


@pytest.mark.parametrize(
    ("strategy", "wrong"),
    [
        ({"type": "OnDelete"}, []),
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, []),
        (
            {"type": "OnDelete", "rollingUpdate": {"partition": 2}},
            ["only allowed for updateStrategy 'RollingUpdate'"],
        ),
        ({"type": "Odd"}, ["must be 'RollingUpdate' or 'OnDelete'"]),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}},
            ["must be greater than or equal to 0"],
        ),
    ],
)
def test_stateful_sets_are_updated_one_by_one_or_not(
    strategy: dict[str, Any], wrong: list[str]
) -> None:
    found = wrong_with(rules.check_stateful_set, made("statefulsets", updateStrategy=strategy))

    assert [complaint.rpartition(": ")[2] for complaint in found] == wrong


def test_claims_of_a_stateful_set_are_kept_or_deleted() -> None:
    policy = {"whenDeleted": "Forget", "whenScaled": "Retain"}
    document = made("statefulsets", persistentVolumeClaimRetentionPolicy=policy)

    assert wrong_with(rules.check_stateful_set, document) == [
        (
            'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Forget": '
            'supported values: "Retain", "Delete"'
        )
    ]


def test_claims_of_a_stateful_set_are_volumes_of_its_pods() -> None:
    template = copy.deepcopy(TEMPLATE)
    mounts = [{"name": "data", "mountPath": "/d"}]
    template["spec"]["containers"][0]["volumeMounts"] = mounts
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = [{"metadata": {"name": "data"}, "spec": size}] * 2  # of the same name are one volume

    with_claim = made("statefulsets", template=template, volumeClaimTemplates=claims)
    without = made("statefulsets", template=template)

    assert wrong_with(rules.check_stateful_set, with_claim) == []
    assert wrong_with(rules.check_stateful_set, without) == [
        'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'
    ]


def test_claims_of_a_new_stateful_set_are_checked_and_those_of_an_old_one_may_stay() -> None:
    empty = made("statefulsets", volumeClaimTemplates=[{}])
    claim = "spec.volumeClaimTemplates[0].spec"

    assert wrong_with(rules.check_stateful_set, empty) == [
        f"{claim}.accessModes: Required value: at least 1 access mode is required",
        f"{claim}.resources[storage]: Required value",
        "spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value",
        "spec.template.spec.volumes[0].name: Required value",
    ]
    assert changed(rules.check_stateful_set_update, empty) == [
        "spec.template.spec.volumes[0].persistentVolumeClaim.claimName",
        "spec.template.spec.volumes[0].name",
    ]


def test_a_replication_controller_needs_a_template() -> None:
    body = {"metadata": {"name": "x"}, "spec": {"selector": LABELS}}
    document = created(kind_of("replicationcontrollers"), body)

    assert wrong_with(rules.check_replication_controller, document) == [
        "spec.template: Required value"
    ]


def changed(check: Any, old: dict[str, Any], **spec: Any) -> list[str]:
    errors = FieldErrors()
    check(old | {"spec": old["spec"] | spec}, old, errors)
    return [cause.field for cause in errors.causes]


def test_updates_keep_what_pods_were_made_by() -> None:
    deployment, stateful = made("deployments"), made("statefulsets")

    assert changed(rules.check_selector_kept, deployment, selector={}) == ["spec.selector"]
    assert changed(rules.check_selector_kept, deployment, replicas=5) == []
    assert changed(rules.check_stateful_set_update, stateful, serviceName="b") == ["spec"]
    assert changed(rules.check_stateful_set_update, stateful, replicas=5) == []
