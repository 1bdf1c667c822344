"""The least rights that a pod's configuration takes."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.api.resources import Resource
from reflet.insight.rbac import Grant, Rule, Subject, grants_for
from reflet.resolution.pod_inputs import PodInputs
from tests.unit.resolution.scenes import pod_with, variable


def source(pod: Pod, kind: str = "Pod", name: str = "web-0") -> PodInputs:
    return PodInputs(pod=pod, objects=None, kind=kind, name=name)


def rules(pod: Pod, **more: Any) -> dict[tuple[str, str], Rule]:
    """Return the rules by namespace and resource."""
    return {
        (grant.namespace, rule.resources[0]): rule
        for grant in grants_for([source(pod)], **more)
        for rule in grant.rules
    }


SIMPLE = pod_with(
    {
        "envFrom": [{"configMapRef": {"name": "b"}}, {"configMapRef": {"name": "a"}}],
        "env": [variable("S", secretKeyRef={"name": "s", "key": "k"})],
    }
)


def test_objects_are_allowed_by_name() -> None:
    found = rules(SIMPLE)

    assert found["shop", "configmaps"].names == ("a", "b")
    assert found["shop", "secrets"].names == ("s",)
    assert found["shop", "configmaps"].verbs == ("get", "list", "watch")


def test_nothing_else_is_allowed() -> None:
    assert set(rules(SIMPLE)) == {
        ("shop", "configmaps"),
        ("shop", "secrets"),
        ("shop", "pods"),
        ("default", "services"),
    }


def test_forwarding_needs_services_pods_and_their_ports() -> None:
    found = [
        (rule.resources[0], rule.verbs)
        for grant in grants_for([source(SIMPLE)], forward=True)
        if grant.namespace == "shop"
        for rule in grant.rules
        if not rule.names
    ]

    assert found == [
        ("services", ("get",)),
        ("pods", ("list", "watch")),
        ("pods/portforward", ("get", "create")),
    ]


def test_verbs_can_be_fewer() -> None:
    assert rules(SIMPLE, verbs=("get",))["shop", "secrets"].verbs == ("get",)


def test_service_links_need_the_list_of_services() -> None:
    found = rules(pod_with(enableServiceLinks=True))

    assert (found["shop", "services"].verbs, found["shop", "services"].names) == (("list",), ())
    assert found["default", "services"].names == ("kubernetes",)


def test_the_list_of_services_shows_the_servers_own_in_its_namespace() -> None:
    found = rules(pod_with(metadata={"namespace": "default"}, enableServiceLinks=True))

    assert found["default", "services"].verbs == ("list",)


def test_a_projected_token_needs_the_right_to_make_one() -> None:
    token = {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}
    pod = pod_with(volumes=[{"name": "t", **token}], serviceAccountName="web")

    rule = rules(pod)["shop", "serviceaccounts/token"]

    assert (rule.verbs, rule.names) == (("create",), ("web",))


def test_what_only_the_node_knows_needs_the_node() -> None:
    resource = variable("L", resourceFieldRef={"resource": "limits.cpu"})
    pod = pod_with({"env": [resource]}, nodeName="node-1")

    (cluster,) = [grant for grant in grants_for([source(pod)]) if not grant.namespace]

    assert cluster.kind == "ClusterRole"
    assert [(rule.resources, rule.names) for rule in cluster.rules] == [(("nodes",), ("node-1",))]


def test_downward_files_may_need_the_node_too() -> None:
    item = {"path": "l", "resourceFieldRef": {"containerName": "web", "resource": "limits.cpu"}}
    pod = pod_with(volumes=[{"name": "d", "downwardAPI": {"items": [item]}}], nodeName="node-1")

    assert ("", "nodes") in rules(pod)


def test_a_workload_is_read_itself() -> None:
    pod = pod_with(metadata={"name": "", "generateName": "web-"})

    grants = grants_for([source(pod, "Deployment", "web")])

    (rule,) = [rule for rule in grants[0].rules if rule.resources == ("deployments",)]
    verbs = ("get", "list", "watch")
    assert (rule.group, rule.verbs, rule.names) == ("apps", verbs, ("web",))
    assert grants[0].name == "reflet-web"


@pytest.mark.parametrize("verbs", [("get",), ("get", "watch"), ("list", "watch")])
def test_the_pod_may_be_followed_if_what_it_names_may(verbs: tuple[str, ...]) -> None:
    grants = grants_for([source(pod_with())], verbs=verbs)

    (rule,) = [rule for rule in grants[0].rules if rule.resources == ("pods",)]
    assert rule.verbs == ("get", *(verb for verb in verbs if verb != "get"))


def test_a_pod_without_a_name_is_not_read() -> None:
    pod = pod_with(metadata={"name": "", "generateName": "web-"})

    grants = grants_for([source(pod, name="web-")])

    assert {rule.resources for grant in grants for rule in grant.rules} == {("services",)}


def test_several_pods_share_a_role_for_each_namespace() -> None:
    other = pod_with(
        {"envFrom": [{"configMapRef": {"name": "c"}}]}, metadata={"namespace": "bakery"}
    )

    grants = grants_for([source(SIMPLE), source(other), source(SIMPLE, name="web-1")], name="all")

    assert [(grant.name, grant.namespace) for grant in grants] == [
        ("all", "shop"),
        ("all", "bakery"),
        ("all", "default"),
    ]
    (pods,) = [rule for rule in grants[0].rules if rule.resources == ("pods",)]
    assert pods.names == ("web-0", "web-1")


def test_a_role_is_bound_to_its_subjects() -> None:
    subjects = [
        Subject(kind="User", name="alice"),
        Subject(kind="ServiceAccount", name="reader"),
        Subject(kind="ServiceAccount", name="reader", namespace="ops"),
    ]

    grant = grants_for([source(SIMPLE)], subjects=subjects)[0]

    assert grant.binding() == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "reflet-web-0", "namespace": "shop"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Role",
            "name": "reflet-web-0",
        },
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"},
            {"kind": "ServiceAccount", "name": "reader", "namespace": "shop"},
            {"kind": "ServiceAccount", "name": "reader", "namespace": "ops"},
        ],
    }


def test_a_rule_without_names_allows_all() -> None:
    rule = Rule(resources=("services",), verbs=("list",), why="variables")

    assert Grant(name="r", namespace="shop", rules=(rule,)).role()["rules"] == [
        {"apiGroups": [""], "resources": ["services"], "verbs": ["list"]}
    ]


def test_no_pods_need_no_rights() -> None:
    assert grants_for([]) == ()


def test_trust_anchors_take_the_right_to_list_bundles() -> None:
    shown = {"clusterTrustBundle": {"name": "a", "path": "ca.pem"}}
    showing = pod_with(volumes=[{"name": "ca", "projected": {"sources": [shown]}}])

    rule = rules(showing)["", "clustertrustbundles"]

    assert (rule.group, rule.verbs) == ("certificates.k8s.io", ("list", "watch"))
    assert ("", "clustertrustbundles") not in rules(SIMPLE)


def test_a_custom_workload_is_read_by_its_own_resource() -> None:
    rollouts = Resource(group="argoproj.io", version="v1alpha1", plural="rollouts", kind="Rollout")
    inputs = PodInputs(pod=SIMPLE, objects=None, kind="Rollout", name="roll", resource=rollouts)

    found = [rule for grant in grants_for([inputs]) for rule in grant.rules]

    (rule,) = (rule for rule in found if rule.resources == ("rollouts",))
    assert (rule.group, rule.names) == ("argoproj.io", ("roll",))
