"""Who uses an object by its labels."""

from __future__ import annotations

from typing import Any

from reflet.insight.possible_users import Candidates, labels_by_object
from reflet.insight.used_by import UsedBy, used_by, used_by_each
from tests.unit.insight.sidecar_pods import container, dashboard, deployment, pod


def users_of(*containers: dict[str, Any], **more: Any) -> UsedBy:
    items = [dashboard(), dashboard(namespace="monitoring")]
    candidates = Candidates(
        workloads=(deployment(*containers),), labels=labels_by_object(items), **more
    )
    return used_by("ConfigMap", "shop", "dash", candidates)


def test_a_sidecar_of_another_namespace_is_a_user() -> None:
    (user,) = users_of(container(NAMESPACE="ALL", LABEL_VALUE="1")).users

    (use,) = user.uses
    assert (user.kind, user.namespace, user.name) == ("Deployment", "monitoring", "grafana")
    assert (use.usage, use.place.container, use.keys) == ("sidecar", "dashboards", None)
    assert use.selection == "label grafana_dashboard=1"


def test_one_that_looks_elsewhere_is_none() -> None:
    assert users_of(container()).users == ()
    assert users_of(container(NAMESPACE="ALL", LABEL_VALUE="2")).users == ()


def test_a_pod_of_its_own_is_a_user_too() -> None:
    everywhere = container(NAMESPACE="ALL")

    found = users_of(everywhere, pods=(pod(everywhere),))

    assert [(user.kind, user.name) for user in found.users] == [
        ("Deployment", "grafana"),
        ("Pod", "grafana"),
    ]


def test_an_object_that_is_mounted_and_picked_up_has_one_user() -> None:
    volume = {
        **container(NAMESPACE="ALL"),
        "envFrom": [{"configMapRef": {"name": "dash", "optional": True}}],
    }
    candidates = Candidates(
        workloads=(deployment(volume, namespace="shop"),), labels=labels_by_object([dashboard()])
    )

    (user,) = used_by("ConfigMap", "shop", "dash", candidates).users

    assert [use.usage for use in user.uses] == ["envFrom", "sidecar"]


def test_every_key_is_used() -> None:
    candidates = Candidates(
        workloads=(deployment(container(NAMESPACE="ALL")),), labels=labels_by_object([dashboard()])
    )

    assert used_by("ConfigMap", "shop", "dash", candidates, key="a.json").workloads == 1


def test_an_object_of_which_nothing_is_known_is_picked_up_by_name_only() -> None:
    by_name = container(name="named", RESOURCE_NAME="dash")
    candidates = Candidates(workloads=(deployment(container(), by_name),))

    answers = used_by_each("ConfigMap", ("monitoring", "shop"), "dash", candidates)

    assert [
        [use.selection for user in answer.users for use in user.uses] for answer in answers
    ] == [
        ["names dash"],
        [],
    ]
