"""Which webhooks a write concerns."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.admission.attributes import AdmittedTarget
from reflet.devserver.admission.webhook_matching import (
    in_order,
    invoked_kind,
    is_exempt,
    is_selected,
    webhooks_of,
)
from reflet.errors import NotFound
from tests.unit.devserver.admission.admission_scene import attributes, read, rule, target
from tests.unit.devserver.object_scene import KINDS, kind_of
from tests.webhook_scenes import configuration, webhook

LABELLED = {"metadata": {"name": "c", "labels": {"team": "a"}}}
TEAM = {"matchLabels": {"team": "a"}}


@pytest.mark.parametrize(
    ("wanted", "found", "matches"),
    [
        (rule("configmaps"), target(), True),
        (rule("*"), target(), True),
        (rule("*/*"), target(), True),
        (rule("secrets"), target(), False),
        (rule("configmaps/*"), target(), True),
        (rule("pods"), target("pods", subresource="status"), False),
        (rule("pods/status"), target("pods", subresource="status"), True),
        (rule("pods/status"), target("pods"), False),
        (rule("pods/*"), target("pods", subresource="eviction"), True),
        (rule("*"), target("pods", subresource="eviction"), False),
        (rule("*/scale"), target("deployments.apps", subresource="scale"), True),
        (rule("*", operations=["UPDATE", "DELETE"]), target(operation="DELETE"), True),
        (rule("*", operations=["UPDATE"]), target(operation="CREATE"), False),
        (rule("*", operations=["CONNECT"]), target(operation="CREATE"), False),
        (rule("*", apiGroups=[""]), target(), True),
        (rule("*", apiGroups=[""]), target("deployments.apps"), False),
        (rule("*", apiVersions=["v1"]), target(), True),
        (rule("*", apiVersions=["v1beta1"]), target(), False),
        (rule("*", scope="Namespaced"), target(), True),
        (rule("*", scope="Namespaced"), target("namespaces"), False),
        (rule("*", scope="Namespaced"), target("nodes"), False),
        (rule("*", scope="Cluster"), target("namespaces"), True),
        (rule("*", scope="Cluster"), target(), False),
        (rule("*", scope="*"), target("nodes"), True),
    ],
)
def test_a_rule_names_operations_groups_versions_resources_and_scope(
    wanted: dict[str, Any], found: AdmittedTarget, matches: bool
) -> None:
    assert (invoked_kind(read(rules=[wanted]), found, ()) is not None) is matches


@pytest.mark.parametrize(
    ("policy", "api_version"), [("Equivalent", "autoscaling/v2"), ("Exact", None)]
)
def test_another_version_of_the_same_objects_counts_unless_the_policy_is_exact(
    policy: str, api_version: str | None
) -> None:
    webhook = read(rules=[rule("horizontalpodautoscalers", apiVersions=["v2"])], matchPolicy=policy)
    old = kind_of("horizontalpodautoscalers", "autoscaling", "v1")
    both = [each for each in KINDS if each.storage_key == old.storage_key]

    found = invoked_kind(webhook, AdmittedTarget(old, "", "CREATE"), both)

    assert (found and found.api_version) == api_version


def test_the_version_of_the_request_comes_before_its_equivalents() -> None:
    webhook = read(rules=[rule("horizontalpodautoscalers", apiVersions=["v2", "v1"])])
    old = kind_of("horizontalpodautoscalers", "autoscaling", "v1")
    both = [each for each in KINDS if each.storage_key == old.storage_key]

    assert invoked_kind(webhook, AdmittedTarget(old, "", "CREATE"), both) is old


@pytest.mark.parametrize(
    ("options", "more", "selected"),
    [
        ({}, {}, True),
        ({"objectSelector": TEAM}, {}, False),
        ({"objectSelector": TEAM}, {"object": LABELLED}, True),
        ({"objectSelector": TEAM}, {"old": LABELLED}, True),
        ({"objectSelector": TEAM}, {"object": None, "old": LABELLED}, True),
        ({"namespaceSelector": TEAM}, {}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, {}, False),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}},
            {},
            True,
        ),
    ],
)
def test_selectors_look_at_objects_before_and_after_and_at_the_namespace(
    options: dict[str, Any], more: dict[str, Any], selected: bool
) -> None:
    namespaces = {"shop": {"team": "a"}}

    assert is_selected(read(**options), attributes(**more), namespaces.get) is selected


def test_a_namespace_is_selected_by_the_labels_that_it_will_have() -> None:
    write = attributes("namespaces", "UPDATE", name="shop", namespace="shop", object=LABELLED)

    assert is_selected(read(namespaceSelector=TEAM), write, lambda _: {})


def test_a_namespace_that_goes_is_selected_by_the_labels_that_it_has() -> None:
    write = attributes("namespaces", "DELETE", name="shop", namespace="shop", object=None)

    assert is_selected(read(namespaceSelector=TEAM), write, lambda _: {"team": "a"})


def test_what_is_in_no_namespace_is_never_left_out_by_a_namespace_selector() -> None:
    write = attributes("nodes", namespace="")

    assert is_selected(read(namespaceSelector=TEAM), write, lambda _: None)


def test_a_namespace_that_is_not_there_is_told() -> None:
    with pytest.raises(NotFound, match='namespaces "shop" not found'):
        is_selected(read(namespaceSelector=TEAM), attributes(), lambda _: None)


@pytest.mark.parametrize(
    ("plural", "exempt"),
    [
        ("mutatingwebhookconfigurations", True),
        ("validatingwebhookconfigurations", True),
        ("validatingadmissionpolicies", True),
        ("validatingadmissionpolicybindings", True),
        ("mutatingadmissionpolicies", True),
        ("mutatingadmissionpolicybindings", True),
    ],
)
def test_what_configures_admission_is_not_admitted(plural: str, exempt: bool) -> None:
    assert is_exempt(kind_of(plural, "admissionregistration.k8s.io")) is exempt


def test_everything_else_is_admitted() -> None:
    assert not is_exempt(kind_of("configmaps"))


def test_webhooks_are_called_by_the_name_of_their_configuration_and_then_as_written() -> None:
    here = {"url": "https://here"}
    first = configuration("b", webhook("z", here), webhook("a", here))
    second = configuration("a", webhook("m", here))

    ordered = in_order({"b": webhooks_of(first), "a": webhooks_of(second)})

    assert [each.name for each in ordered] == ["m.example.org", "z.example.org", "a.example.org"]


def test_what_a_webhook_leaves_out_is_what_the_server_fills_in() -> None:
    found = read()

    assert (found.timeout, found.ignores_failures, found.takes_equivalents, found.is_reinvoked) == (
        10,
        False,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("effects", "supported"),
    [("None", True), ("NoneOnDryRun", True), ("Some", False), ("Unknown", False)],
)
def test_side_effects_say_whether_a_dry_run_is_supported(effects: str, supported: bool) -> None:
    assert read(sideEffects=effects).supports_dry_run is supported
