from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.validation.batch import jobs as rules
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of, pod_body

PODS = {"spec": pod_body()["spec"] | {"restartPolicy": "Never"}}


def job(**spec: Any) -> dict[str, Any]:
    body = {"metadata": {"name": "x"}, "spec": {"template": copy.deepcopy(PODS)} | spec}
    return created(kind_of("jobs", "batch"), body)


def cron_job(**spec: Any) -> dict[str, Any]:
    usual = {"schedule": "@hourly", "jobTemplate": {"spec": {"template": copy.deepcopy(PODS)}}}
    body = {"metadata": {"name": "x"}, "spec": usual | spec}
    return created(kind_of("cronjobs", "batch"), body)


def wrong_with(document: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check = rules.check_cron_job if "schedule" in document["spec"] else rules.check_job
    check(document, errors)
    return complaints(errors)


def test_a_job_makes_its_own_selector_and_ends() -> None:
    always = job()
    always["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    other = job(selector={"matchLabels": {"a": "b"}})

    assert wrong_with(job()) == []
    assert "not auto-generated" in wrong_with(other)[0]
    assert wrong_with(always) == [
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"completionMode": "Indexed", "parallelism": 2}, "completions: Required value"),
        ({"backoffLimitPerIndex": 1}, "requires indexed completion mode"),
        ({"managedBy": "me"}, "must be a domain-prefixed path"),
        ({"podReplacementPolicy": "Never"}, 'supported values: "Failed", "TerminatingOrFailed"'),
    ],
)
def test_parts_of_jobs_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert wrong in wrong_with(job(**spec))[0]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({"schedule": ""}, "spec.schedule: Required value"),
        ({"schedule": "TZ=UTC * * * * *"}, "cannot use TZ or CRON_TZ in schedule"),
        ({"timeZone": "Nowhere/City"}, "unknown time zone Nowhere/City"),
    ],
)
def test_cron_jobs_have_their_rules(spec: dict[str, Any], wrong: str) -> None:
    assert wrong in wrong_with(cron_job(**spec))[0]


def changed(old: dict[str, Any], **spec: Any) -> list[str]:
    errors = FieldErrors()
    rules.check_job_update(old | {"spec": old["spec"] | spec}, old, errors)
    return [cause.field for cause in errors.causes]


def test_a_job_keeps_what_its_pods_were_made_by() -> None:
    template = copy.deepcopy(job()["spec"]["template"])
    template["spec"]["nodeSelector"] = {"disk": "ssd"}

    assert changed(job(), completions=5) == ["spec.completions"]
    assert changed(job(), parallelism=5) == []
    assert changed(job(), template=template) == ["spec.template"]
    assert changed(job(suspend=True), template=template) == []


def test_a_cron_job_may_keep_a_zone_that_is_gone() -> None:
    old, errors = cron_job(timeZone="Nowhere/City"), FieldErrors()

    rules.check_cron_job_update(old, old, errors)

    assert complaints(errors) == []
