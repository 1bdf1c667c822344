"""The pod of a template has what controllers and the server add, and nothing that is invented."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.api.core.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from reflet.api.meta import ObjectMeta
from reflet.errors import ConfigurationError
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.resource_fields import UNKNOWN_NODE
from reflet.resolution.templates.templates import (
    CustomWorkload,
    PlacedTemplate,
    Workload,
    assumptions_of,
    parse_target,
    pod_of,
    pod_resource,
    template_of,
    template_path,
    templates_of,
)

LABELS_FILE = {
    "name": "labels",
    "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]},
}


def workload(kind: type[Any], spec: dict[str, Any] | None = None, **pod: Any) -> Any:
    template = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"note": "x"}},
        "spec": {"containers": [{"name": "web"}], **pod},
    }
    whole = {"template": template, **(spec or {})}
    if kind is CronJob:
        whole = {"jobTemplate": {"spec": whole}}
    raw = {"metadata": {"name": "web", "namespace": "shop", "uid": "7"}, "spec": whole}
    return codec.decode(json.dumps(raw).encode(), kind)


def shown(pod: Pod, **source: Any) -> str | None:
    """Return what a variable of the pod's container shows, ``None`` when it is not known."""
    found = pod.spec.containers[0]
    env = [{"name": "X", "valueFrom": source}]
    raw = json.loads(codec.encode(pod))
    raw["spec"]["containers"][0] = json.loads(codec.encode(found)) | {"env": env}
    decoded = codec.decode(json.dumps(raw).encode(), Pod)
    environment = resolve_environment(
        decoded, "web", ObjectsInHand(), node=UNKNOWN_NODE, services=()
    )
    assignment = environment.variables["X"].assignment
    return assignment.value if assignment.known else None


@pytest.mark.parametrize(
    "kind", [Deployment, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob]
)
def test_the_pod_is_of_the_workloads_namespace_and_has_the_templates_metadata(
    kind: type[Any],
) -> None:
    metadata = pod_of(workload(kind)).metadata

    assert (metadata.namespace, metadata.labels["app"], metadata.annotations["note"]) == (
        "shop",
        "web",
        "x",
    )


@pytest.mark.parametrize("field", ["metadata.name", "metadata.uid"])
def test_the_name_and_identity_of_a_pod_that_is_not_made_are_not_known(field: str) -> None:
    pod = pod_of(workload(Deployment))

    assert shown(pod, fieldRef={"apiVersion": "v1", "fieldPath": field}) is None


def test_a_stateful_set_means_its_first_pod_whose_name_is_known() -> None:
    pod = pod_of(workload(StatefulSet, {"serviceName": "shops"}))

    assert (pod.metadata.name, pod.spec.hostname, pod.spec.subdomain) == (
        "web-0",
        "web-0",
        "shops",
    )
    assert pod.metadata.labels["apps.kubernetes.io/pod-index"] == "0"


def test_the_pods_of_a_stateful_set_may_be_counted_from_another_number() -> None:
    counted = workload(StatefulSet, {"ordinals": {"start": 5}})

    pod = pod_of(counted)

    assert (pod.metadata.name, pod.spec.hostname) == ("web-5", "web-5")
    assert pod.metadata.labels["apps.kubernetes.io/pod-index"] == "5"
    assert "this is the first pod of StatefulSet web, web-5" in assumptions_of(counted)


@pytest.mark.parametrize("kind", [Job, CronJob])
def test_the_first_pod_of_an_indexed_job_is_told_its_index(kind: type[Any]) -> None:
    pod = pod_of(workload(kind, {"completionMode": "Indexed"}))

    environment = resolve_environment(pod, "web", ObjectsInHand(), services=())

    assert environment.values == {"JOB_COMPLETION_INDEX": "0"}


def test_an_index_that_the_template_sets_itself_stays() -> None:
    own = {"name": "web", "env": [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]}
    pod = pod_of(workload(Job, {"completionMode": "Indexed"}, containers=[own]))

    environment = resolve_environment(pod, "web", ObjectsInHand(), services=())

    assert environment.values == {"JOB_COMPLETION_INDEX": "mine"}


def test_service_links_are_on_unless_the_template_says_otherwise() -> None:
    silent, unwilling = workload(Deployment), workload(Deployment, enableServiceLinks=False)

    links = [pod_of(each).spec.enable_service_links for each in (silent, unwilling)]

    assert links == [True, False]


def test_requests_that_are_missing_are_the_limits() -> None:
    limits = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    pod = pod_of(workload(Deployment, containers=[{"name": "web", "resources": limits}]))

    assert pod.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("kind", "assumed"),
    [
        (Deployment, "the label pod-template-hash is missing"),
        (DaemonSet, "the labels controller-revision-hash, pod-template-generation are missing"),
        (StatefulSet, "this is the first pod of StatefulSet web, web-0"),
    ],
)
def test_what_is_assumed_is_said(kind: type[Any], assumed: str) -> None:
    said = assumptions_of(workload(kind, volumes=[LABELS_FILE]))

    assert said[0].startswith(assumed)


@pytest.mark.parametrize(
    "kind", [Deployment, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob]
)
def test_labels_that_nothing_shows_need_no_words(kind: type[Any]) -> None:
    made: Workload = workload(kind)

    assert assumptions_of(made) == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("po", "Pod"), ("deploy", "Deployment"), ("sts", "StatefulSet"), ("ds", "DaemonSet")),
        *(
            ("rs", "ReplicaSet"),
            ("rc", "ReplicationController"),
            ("job", "Job"),
            ("cj", "CronJob"),
            ("Deployments.apps", "Deployment"),
        ),
    ],
)
def test_types_may_be_short(text: str, kind: str) -> None:
    assert pod_resource(text).kind == kind


def test_a_type_without_pods_is_refused_with_those_that_have_them() -> None:
    with pytest.raises(
        ConfigurationError, match=r"configmaps are no pods and make none; .*CronJob"
    ):
        pod_resource("cm")


def test_an_unknown_type_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean deployments\.apps"):
        pod_resource("deploymnet")


@pytest.mark.parametrize(
    ("text", "target"),
    [("web", ("pod", "web")), ("deploy/web", ("deploy", "web")), ("pods/a", ("pods", "a"))],
)
def test_a_target_is_a_type_and_a_name_or_a_pod(text: str, target: tuple[str, str]) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize("text", ["", "/", "deploy/", "/web", "a/b/c"])
def test_other_targets_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not of the form TYPE/NAME"):
        parse_target(text)


def custom(*paths: str, unreadable: tuple[str, ...] = ()) -> CustomWorkload:
    template = workload(Deployment).spec.template
    return CustomWorkload(
        api_version="argoproj.io/v1alpha1",
        kind="Rollout",
        metadata=ObjectMeta(name="roll", namespace="shop"),
        templates=tuple(PlacedTemplate(path=path, template=template) for path in paths),
        unreadable=unreadable,
    )


def test_a_custom_workload_makes_the_pod_of_its_first_template() -> None:
    pod = pod_of(custom("spec.template"))

    assert (pod.metadata.generate_name, pod.metadata.namespace) == ("roll-", "shop")
    assert pod.metadata.labels == {"app": "web"}
    assert pod.spec.enable_service_links is True


def test_of_a_custom_workload_the_other_templates_are_named() -> None:
    said = assumptions_of(custom("spec.a", "spec.b", unreadable=("the template at spec.c is bad",)))

    assert said == (
        "what the controller of Rollout roll adds to its template is not known",
        "this is the template at spec.a of Rollout roll; others are at spec.b",
        "the template at spec.c is bad",
    )


@pytest.mark.parametrize(
    ("subject", "path"),
    [
        (workload(Deployment), "spec.template"),
        (workload(Job), "spec.template"),
        (workload(CronJob), "spec.jobTemplate.spec.template"),
        (custom("spec.a", "spec.b"), "spec.a"),
    ],
)
def test_where_a_template_is(subject: Workload, path: str) -> None:
    assert template_path(subject) == path
    assert templates_of(subject)[0].path == path
    assert templates_of(subject)[0].template == template_of(subject)
