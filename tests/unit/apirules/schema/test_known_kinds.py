"""What an apiVersion and kind are to Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.builtin_kinds import GROUPS
from reflet.apirules.schema.known_kinds import KindStanding, belongs_to_kubernetes, judged


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group.name}/{group.version}")
def test_every_stored_kind_with_rules_is_served(group: Any) -> None:
    name, version, rows = group.name, group.version, group.rows
    api_version = f"{name}/{version}" if name else version

    for row in rows:
        expected = KindStanding.SERVED if "update" in row.verbs else KindStanding.KNOWN
        assert judged(api_version, row.kind).standing is expected


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "ComponentStatus"),
        ("v1", "Binding"),
        ("certificates.k8s.io/v1beta1", "ClusterTrustBundle"),
        ("resource.k8s.io/v1beta2", "DeviceTaintRule"),
        ("resource.k8s.io/v1beta1", "ResourceSliceList"),
    ],
)
def test_a_kind_without_rules_is_known(api_version: str, kind: str) -> None:
    assert judged(api_version, kind).standing is KindStanding.KNOWN


@pytest.mark.parametrize(
    ("api_version", "kind", "release", "fix"),
    [
        ("extensions/v1beta1", "Deployment", "1.16", "use apiVersion apps/v1"),
        ("extensions/v1beta1", "Ingress", "1.22", "use apiVersion networking.k8s.io/v1"),
        ("apps/v1beta2", "StatefulSet", "1.16", "use apiVersion apps/v1"),
        ("batch/v1beta1", "CronJob", "1.25", "use apiVersion batch/v1"),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.26", "use apiVersion autoscaling/v2"),
        (
            "storage.k8s.io/v1beta1",
            "CSIStorageCapacity",
            "1.27",
            "use apiVersion storage.k8s.io/v1",
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta3",
            "FlowSchema",
            "1.32",
            "use apiVersion flowcontrol.apiserver.k8s.io/v1",
        ),
    ],
)
def test_a_removed_kind_names_the_release_and_what_to_use(
    api_version: str, kind: str, release: str, fix: str
) -> None:
    found = judged(api_version, kind)

    assert found.standing is KindStanding.REMOVED
    assert found.message == (
        f'no matches for kind "{kind}" in version "{api_version}": Kubernetes {release} removed it'
    )
    assert found.fix == fix


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("policy/v1beta1", "PodSecurityPolicy"), ("settings.k8s.io/v1alpha1", "PodPreset")],
)
def test_of_some_that_were_removed_nothing_is_left(api_version: str, kind: str) -> None:
    assert judged(api_version, kind).fix.startswith("nothing replaces it")


@pytest.mark.parametrize(
    ("api_version", "kind", "fix"),
    [
        ("apps/v1", "Deploymnet", "did you mean Deployment?"),
        ("apps/v1", "deployment", "did you mean Deployment?"),
        ("v1", "Deploymnet", "did you mean Deployment of apps/v1?"),
        ("v1", "Deployment", "use apiVersion apps/v1"),
        ("app/v1", "Deployment", "use apiVersion apps/v1"),
        ("apps/v2", "Deployment", "use apiVersion apps/v1"),
        ("1", "ConfigMap", "use apiVersion v1"),
        ("apps.k8s.io/v1", "Deployment", "use apiVersion apps/v1"),
        ("rbac.authorisation.k8s.io/v1", "Role", "use apiVersion rbac.authorization.k8s.io/v1"),
        ("networking.k8s.io/v1", "Event", "use apiVersion v1"),
        ("events.k8s.io/v2", "Event", "use apiVersion events.k8s.io/v1"),
        (
            "certificates.k8s.io/v2",
            "ClusterTrustBundle",
            "use apiVersion certificates.k8s.io/v1beta1",
        ),
    ],
)
def test_a_mistake_in_a_group_of_kubernetes_is_told_with_what_was_meant(
    api_version: str, kind: str, fix: str
) -> None:
    found = judged(api_version, kind)

    assert found.standing is KindStanding.UNKNOWN
    assert found.message == f'no matches for kind "{kind}" in version "{api_version}"'
    assert found.fix == fix


def test_a_version_that_never_was_of_a_kind_that_is_gone_says_so() -> None:
    found = judged("policy/v1", "PodSecurityPolicy")

    assert found.standing is KindStanding.UNKNOWN
    assert found.fix.startswith("Kubernetes 1.25 removed PodSecurityPolicy; nothing replaces it")


def test_where_nothing_is_near_the_two_ways_are_told() -> None:
    found = judged("v1", "Zebra")

    assert found.standing is KindStanding.UNKNOWN
    assert "CustomResourceDefinition" in found.fix


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
        ("v1", "Config"),
        ("kubeadm.k8s.io/v1beta4", "ClusterConfiguration"),
        ("kind.x-k8s.io/v1alpha4", "Cluster"),
        ("skaffold/v3", "Config"),
        ("audit.k8s.io/v1", "Policy"),
        ("v1", "Policy"),
        ("0.1.0", "ksonnet.io/app"),
    ],
)
def test_files_of_tools_and_components_are_not_for_a_cluster(api_version: str, kind: str) -> None:
    found = judged(api_version, kind)

    assert found.standing is KindStanding.CONFIGURATION
    assert "not for a cluster" in found.message


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("argoproj.io/v1alpha1", "Rollout"),
        ("gateway.networking.k8s.io/v1", "Gateway"),
        ("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
        ("metrics.k8s.io/v1beta1", "PodMetrics"),
        ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
        ("scheduling.sigs.k8s.io/v1alpha1", "PodGroup"),
        ("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy"),
        ("apps.kruise.io/v1alpha1", "DaemonSet"),
        ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
        ("authorization.openshift.io/v1", "Role"),
        ("serving.knative.dev/v1", "Service"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
    ],
)
def test_what_somebody_else_defines_is_custom(api_version: str, kind: str) -> None:
    assert judged(api_version, kind).standing is KindStanding.CUSTOM


def test_only_kubernetes_defines_groups_without_a_dot() -> None:
    assert belongs_to_kubernetes("app")
    assert belongs_to_kubernetes("storage.k8s.io")
    assert not belongs_to_kubernetes("snapshot.storage.k8s.io")


def test_lists_are_what_their_items_are() -> None:
    assert judged("v1", "List").standing is KindStanding.SERVED
    assert judged("v1", "ConfigMapList").standing is KindStanding.SERVED
    assert judged("extensions/v1beta1", "IngressList").standing is KindStanding.REMOVED
    assert judged("v1", "NotAList").standing is KindStanding.UNKNOWN
