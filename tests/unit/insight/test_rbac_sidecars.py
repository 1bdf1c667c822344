"""The least rights of sidecars."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.insight.rbac import Grant, Subject, grants_for_sidecars
from reflet.insight.sidecars import SidecarSelection, selection_of
from tests.unit.insight.sidecar_pods import VARIABLES


def selection(**variables: str) -> SidecarSelection:
    found = selection_of({**VARIABLES, **variables}, own_namespace="monitoring")
    assert isinstance(found, SidecarSelection)
    return found


def grants(*selections: SidecarSelection, **more: Any) -> tuple[Grant, ...]:
    return grants_for_sidecars(selections, name="r", namespace="monitoring", **more)


def test_all_namespaces_take_a_cluster_role() -> None:
    (grant,) = grants(selection(NAMESPACE="ALL"))

    assert (grant.kind, grant.rules[0].resources) == ("ClusterRole", ("configmaps",))


def test_each_namespace_has_a_role() -> None:
    found = grants(selection(NAMESPACE="shop,bank", RESOURCE="both"))

    assert [(grant.kind, grant.namespace) for grant in found] == [
        ("Role", "shop"),
        ("Role", "bank"),
    ]
    assert [grant.rules[0].resources for grant in found] == [("configmaps", "secrets")] * 2


@pytest.mark.parametrize(
    ("variables", "verbs"),
    [
        ({}, ("list", "watch")),
        ({"METHOD": "LIST"}, ("list",)),
        ({"METHOD": "SLEEP"}, ("list",)),
        ({"RESOURCE_NAME": "a"}, ("get", "list", "watch")),
        ({"RESOURCE_NAME": "a", "METHOD": "SLEEP"}, ("get",)),
    ],
)
def test_verbs_are_those_that_the_method_needs(
    variables: dict[str, str], verbs: tuple[str, ...]
) -> None:
    (grant,) = grants(selection(**variables))

    assert grant.rules[0].verbs == verbs


def test_names_are_the_only_objects() -> None:
    named = selection(RESOURCE="both", NAMESPACE="a,b", RESOURCE_NAME="x,secret/y,a/configmap/z")

    found = {
        (grant.namespace, rule.resources): rule.names
        for grant in grants(named)
        for rule in grant.rules
    }

    assert found == {
        ("a", ("configmaps",)): ("x", "z"),
        ("a", ("secrets",)): ("x", "y"),
        ("b", ("configmaps",)): ("x",),
        ("b", ("secrets",)): ("x", "y"),
    }


def test_two_sidecars_that_read_the_same_share_a_rule() -> None:
    (grant,) = grants(selection(METHOD="LIST"), selection(LABEL="other"))

    (rule,) = grant.rules
    assert rule.verbs == ("list", "watch")
    assert "label grafana_dashboard;" in rule.why
    assert "label other;" in rule.why


def test_subjects_are_of_the_namespace_of_the_sidecars() -> None:
    account = Subject(kind="ServiceAccount", name="grafana")

    (grant,) = grants(selection(NAMESPACE="shop"), subjects=[account])

    assert grant.subjects[0].namespace == "monitoring"
