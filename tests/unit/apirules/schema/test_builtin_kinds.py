from __future__ import annotations

import pytest

from reflet.apirules.schema.builtin_kinds import builtin_kinds
from reflet.apirules.schema.schemas import Schemas
from reflet.apirules.schema.served_kind import ServedKind

KINDS = list(builtin_kinds(Schemas.recorded()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.qualified_resource)
def test_every_built_in_kind_has_its_structure(kind: ServedKind) -> None:
    assert kind.schema.field("metadata") is not None
    assert kind.schema.type_name == kind.type_name


def test_what_the_issue_asks_for_is_served() -> None:
    served = {kind.qualified_resource for kind in KINDS}

    assert served >= {
        *("namespaces", "configmaps", "secrets", "pods", "services", "nodes", "events"),
        *("serviceaccounts", "endpoints", "deployments.apps", "replicasets.apps"),
        *("statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch"),
        *("leases.coordination.k8s.io", "events.events.k8s.io"),
        "customresourcedefinitions.apiextensions.k8s.io",
    }


def test_autoscalers_of_both_versions_are_kept_in_one_place_and_version() -> None:
    kept = {
        (kind.storage_key, kind.storage_version) for kind in KINDS if kind.group == "autoscaling"
    }

    assert kept == {("horizontalpodautoscalers.autoscaling", "v2")}


def test_events_of_both_groups_are_kept_in_one_place() -> None:
    assert {kind.storage_key for kind in KINDS if kind.plural == "events"} == {"events"}
