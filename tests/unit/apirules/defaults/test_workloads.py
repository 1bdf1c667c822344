from __future__ import annotations

from typing import Any

from tests.unit.devserver.object_scene import created, kind_of


def spec_of(plural: str, group: str, version: str = "v1", /, **spec: Any) -> dict[str, Any]:
    kind = kind_of(plural, group, version)
    made: dict[str, Any] = created(kind, {"metadata": {"name": "x"}, "spec": spec})["spec"]
    return made


def test_a_deployment_replaces_a_quarter_at_a_time() -> None:
    spec = spec_of("deployments", "apps")

    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert (spec["replicas"], spec["revisionHistoryLimit"]) == (1, 10)
    assert spec["progressDeadlineSeconds"] == 600


def test_a_deployment_that_recreates_needs_no_numbers() -> None:
    spec = spec_of("deployments", "apps", strategy={"type": "Recreate"}, replicas=0)

    assert (spec["strategy"], spec["replicas"]) == ({"type": "Recreate"}, 0)


def test_a_stateful_set_goes_in_order_and_keeps_its_claims() -> None:
    spec = spec_of("statefulsets", "apps")

    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    }


def test_a_daemon_set_replaces_one_at_a_time() -> None:
    spec = spec_of("daemonsets", "apps")

    assert spec["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}


def test_a_job_runs_once() -> None:
    spec = spec_of("jobs", "batch")

    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (1, 1, 6)
    assert (spec["completionMode"], spec["suspend"]) == ("NonIndexed", False)


def test_a_parallel_job_has_no_number_of_completions() -> None:
    assert "completions" not in spec_of("jobs", "batch", parallelism=3)


def test_a_cron_job_keeps_some_of_its_jobs() -> None:
    spec = spec_of("cronjobs", "batch")

    assert (spec["concurrencyPolicy"], spec["suspend"]) == ("Allow", False)
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 1)


def test_an_autoscaler_watches_the_processor() -> None:
    spec = spec_of("horizontalpodautoscalers", "autoscaling", "v2", behavior={})

    assert spec["minReplicas"] == 1
    assert spec["metrics"][0]["resource"]["target"]["averageUtilization"] == 80
    assert spec["behavior"]["scaleDown"]["selectPolicy"] == "Max"


def test_a_replication_controller_selects_what_its_template_is_labelled() -> None:
    template = {"metadata": {"labels": {"a": "b"}}}

    spec = spec_of("replicationcontrollers", "", template=template)

    assert (spec["selector"], spec["replicas"]) == ({"a": "b"}, 1)
