from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.pods import (
    check_pod,
    check_pod_status_update,
    check_pod_update,
    check_template,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of, pod_body


def pod(**spec: Any) -> dict[str, Any]:
    return created(kind_of("pods"), pod_body(**spec))


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_pod(pod(**spec), errors)
    return complaints(errors)


def test_a_usual_pod_is_fine() -> None:
    assert wrong_with() == []


CONTAINER = {"name": "web", "image": "i"}


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": [CONTAINER] * 2}, 'spec.containers[1].name: Duplicate value: "web"'),
        ({"initContainers": [CONTAINER]}, 'spec.initContainers[0].name: Duplicate value: "web"'),
        (
            {"containers": [CONTAINER | {"image": " i"}]},
            (
                'spec.containers[0].image: Invalid value: " i": must not have leading or trailing '
                "whitespace"
            ),
        ),
        (
            {"restartPolicy": "Maybe"},
            (
                'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", '
                '"OnFailure", "Never"'
            ),
        ),
        (
            {"hostAliases": [{"ip": "x"}]},
            (
                'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. '
                "10.9.8.7 or 2001:db8::ffff)"
            ),
        ),
        (
            {"ephemeralContainers": [CONTAINER]},
            "spec.ephemeralContainers: Forbidden: cannot be set on create",
        ),
        (
            {"nodeName": "n", "schedulingGates": [{"name": "g"}]},
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (
            {"containers": [CONTAINER | {"ports": [{"containerPort": 1, "hostPort": 2}] * 2}]},
            'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//2"',
        ),
    ],
)
def test_each_part_has_its_rules(spec: dict[str, Any], wrong: str) -> None:
    assert wrong in wrong_with(**spec)


def test_a_sidecar_may_have_probes_and_another_init_container_may_not() -> None:
    probe = {"exec": {"command": ["a"]}}
    first = {"name": "i", "image": "i", "livenessProbe": probe}

    assert wrong_with(initContainers=[first | {"restartPolicy": "Always"}]) == []
    assert wrong_with(initContainers=[first]) == [
        (
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
            "without restartPolicy=Always"
        )
    ]


def test_a_template_is_checked_like_a_pod() -> None:
    errors = FieldErrors()
    template = {"metadata": {"labels": {"a b": "c"}}, "spec": pod()["spec"] | {"containers": []}}

    check_template(template, "t", errors)

    assert [cause.field for cause in errors.causes] == ["t.labels", "t.spec.containers"]


def changed(change: Any, **spec: Any) -> list[str]:
    old = pod(**spec)
    new = copy.deepcopy(old)
    change(new["spec"])
    errors = FieldErrors()
    check_pod_update(new, old, errors)
    return complaints(errors)


def test_images_may_change() -> None:
    assert changed(lambda spec: spec["containers"][0].update(image="other")) == []


def test_little_else_may_change() -> None:
    (complaint,) = changed(lambda spec: spec.update(restartPolicy="Never"))

    assert complaint.startswith("spec: Forbidden: pod updates may not change fields other than")
    assert complaint.endswith('\n  restartPolicy: "Always" -> "Never"')


def test_containers_do_not_come_or_go() -> None:
    assert changed(lambda spec: spec["containers"].append(spec["containers"][0])) == [
        'spec.containers[1].name: Duplicate value: "web"',
        "spec.containers: Forbidden: pod updates may not add or remove containers",
    ]


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        (None, 5, []),
        (5, 4, []),
        (4, 5, ["must be less than or equal to previous value"]),
        (4, None, ["must not update from a positive integer to nil value"]),
    ],
)
def test_a_deadline_only_comes_nearer(
    before: int | None, after: int | None, wrong: list[str]
) -> None:
    spec = {} if before is None else {"activeDeadlineSeconds": before}

    found = changed(lambda made: made.update(activeDeadlineSeconds=after), **spec)

    assert [complaint.rpartition(": ")[2] for complaint in found] == wrong


def test_tolerations_are_only_added() -> None:
    assert changed(lambda spec: spec["tolerations"].append({"operator": "Exists"})) == []
    assert changed(lambda spec: spec.update(tolerations=[])) == [
        (
            "spec.tolerations: Forbidden: existing toleration can not be modified except its "
            "tolerationSeconds"
        )
    ]


def test_tolerations_may_last_longer() -> None:
    assert changed(lambda spec: spec["tolerations"][0].update(tolerationSeconds=7)) == []


def test_the_quality_of_service_stays() -> None:
    errors = FieldErrors()

    check_pod_status_update({"status": {"qosClass": "A"}}, {"status": {"qosClass": "B"}}, errors)

    assert complaints(errors) == ['status.qosClass: Invalid value: "A": field is immutable']
