from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.admission import prepare_update
from reflet.apirules.kind_strategies import quality_of_service
from tests.unit.devserver.object_scene import UID, created, kind_of, pod_body, surroundings

FULL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": FULL, "limits": FULL}, "Guaranteed"),
        ({"requests": FULL, "limits": FULL | {"cpu": "2"}}, "Burstable"),
        ({"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}, "BestEffort"),
    ],
)
def test_quality_of_service_follows_from_resources(resources: dict[str, Any], quality: str) -> None:
    assert quality_of_service({"containers": [{"resources": resources}]}) == quality


def test_a_pod_tolerates_short_outages_unless_it_says_otherwise() -> None:
    usual = created(kind_of("pods"), pod_body())
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    special = created(kind_of("pods"), pod_body(tolerations=[own]))

    assert [each["tolerationSeconds"] for each in usual["spec"]["tolerations"]] == [300, 300]
    assert special["spec"]["tolerations"][0] == own
    assert len(special["spec"]["tolerations"]) == 2


def test_a_negative_grace_period_is_one_second() -> None:
    made = created(kind_of("pods"), pod_body(terminationGracePeriodSeconds=-5))

    assert made["spec"]["terminationGracePeriodSeconds"] == 1


def test_the_texts_of_a_secret_become_data() -> None:
    made = created(
        kind_of("secrets"),
        {"metadata": {"name": "x"}, "data": {"a": "YQ==", "b": "Yg=="}, "stringData": {"b": "é"}},
    )

    assert made["data"] == {"a": "YQ==", "b": "w6k="}
    assert "stringData" not in made


def test_a_namespace_has_its_label_finalizer_and_phase() -> None:
    made = created(kind_of("namespaces"), {"metadata": {"name": "shop"}})

    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}
    assert made["spec"] == {"finalizers": ["kubernetes"]}
    assert made["status"] == {"phase": "Active"}


def test_a_job_selects_its_own_pods() -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": []}}
    made = created(
        kind_of("jobs", "batch"), {"metadata": {"name": "x"}, "spec": {"template": template}}
    )

    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}}
    assert made["spec"]["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": UID,
        "batch.kubernetes.io/job-name": "x",
        "controller-uid": UID,
        "job-name": "x",
    }


def test_a_job_shares_the_labels_of_its_template_unless_it_has_its_own() -> None:
    spec = {
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"restartPolicy": "Never", "containers": []},
        }
    }
    jobs = kind_of("jobs", "batch")

    without = created(jobs, {"metadata": {"name": "x"}, "spec": spec})
    same = created(jobs, {"metadata": {"name": "x", "labels": {"app": "a"}}, "spec": spec})

    assert without["metadata"]["labels"] == without["spec"]["template"]["metadata"]["labels"]
    assert without["metadata"]["labels"]["job-name"] == "x"
    assert same["metadata"]["labels"] == {"app": "a"}


def test_a_node_is_not_ready_at_first_and_keeps_what_it_reports() -> None:
    body = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "2"}}}

    made = created(kind_of("nodes"), body)

    assert made["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]
    assert made["status"]["allocatable"] == {"cpu": "2"}


def test_storage_is_protected_while_it_is_used() -> None:
    claim = created(kind_of("persistentvolumeclaims"), {"metadata": {"name": "c"}})
    volume = created(kind_of("persistentvolumes"), {"metadata": {"name": "v"}})

    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert volume["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    assert volume["status"] == {
        "phase": "Pending",
        "lastPhaseTransitionTime": "2020-02-03T04:05:06Z",
    }


def test_a_gated_pod_says_why_it_is_not_scheduled() -> None:
    made = created(kind_of("pods"), pod_body(schedulingGates=[{"name": "example.com/g"}]))

    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "SchedulingGated",
    )


def test_a_lease_keeps_nothing_of_elections_that_nobody_holds() -> None:
    spec = {"holderIdentity": "me", "strategy": "OldestEmulationVersion", "preferredHolder": "you"}

    made = created(
        kind_of("leases", "coordination.k8s.io"), {"metadata": {"name": "x"}, "spec": spec}
    )

    assert made["spec"] == {"holderIdentity": "me"}


SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
CLAIM = {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "c"}
FILLER = {"apiGroup": "example.com", "kind": "Filler", "name": "f"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"dataSource": CLAIM}, {"dataSource": CLAIM, "dataSourceRef": CLAIM}),
        ({"dataSource": SNAPSHOT}, {"dataSource": SNAPSHOT, "dataSourceRef": SNAPSHOT}),
        ({"dataSourceRef": FILLER}, {"dataSource": FILLER, "dataSourceRef": FILLER}),
        ({"dataSource": FILLER}, {}),
        ({"dataSourceRef": SNAPSHOT | {"namespace": "n"}}, {}),
    ],
)
def test_what_fills_a_claim_has_both_names_or_none(
    said: dict[str, Any], kept: dict[str, Any]
) -> None:
    made = created(kind_of("persistentvolumeclaims"), {"metadata": {"name": "x"}, "spec": said})

    assert {name: made["spec"][name] for name in made["spec"] if "data" in name} == kept


def test_a_claim_that_is_filled_stays_so_for_clients_that_know_one_name() -> None:
    kind = kind_of("persistentvolumeclaims")
    old = created(kind, {"metadata": {"name": "x"}, "spec": {"dataSourceRef": FILLER}})
    body = {"metadata": {"name": "x"}, "spec": {"dataSource": FILLER}}

    made = prepare_update(kind, old, body, namespace="shop", surroundings=surroundings())

    assert made["spec"]["dataSourceRef"] == FILLER


def test_limits_without_a_name_get_an_id_for_one() -> None:
    kind = kind_of("limitranges")

    assert created(kind, {})["metadata"]["name"] == UID
    assert created(kind, {"metadata": {"name": "x"}})["metadata"]["name"] == "x"
