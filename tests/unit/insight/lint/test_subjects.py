"""Objects of files, and the lines of their fields."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.pods import Pod, PodTemplateSpec
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.core.workloads import CronJob, Deployment, DeploymentSpec
from reflet.api.meta import ObjectMeta
from reflet.insight.lint.rules import REFUSED
from reflet.insight.lint.subjects import Subject, Subjects
from reflet.resolution.templates.templates import CustomWorkload, PlacedTemplate
from tests.unit.resolution.scenes import config_map, pod_with


def subject(kind: str = "Pod", **more: object) -> Subject:
    facts = {"file": "a.yaml", "namespace": "shop", "name": "web", "find_line": len, **more}
    return Subject(kind=kind, **facts)  # type: ignore[arg-type]  # the facts of one test


@pytest.mark.parametrize(
    ("found", "path"),
    [
        (pod_with(), "spec.volumes[0]"),
        (Deployment(), "spec.template.spec.volumes[0]"),
        (CronJob(), "spec.jobTemplate.spec.template.spec.volumes[0]"),
    ],
)
def test_a_field_of_the_pod_is_found_in_the_object(found: Any, path: str) -> None:
    workload = None if isinstance(found, Pod) else found

    ((view, _),) = subject(found.kind, object=found, workload=workload).pods()

    assert view.path_of("spec.volumes[0]") == path


def test_every_template_of_a_custom_resource_is_a_pod_with_its_own_path() -> None:
    paths = ("spec.master.template", "spec.worker.template")
    templates = tuple(PlacedTemplate(path=path, template=PodTemplateSpec()) for path in paths)
    workload = CustomWorkload(
        api_version="x.dev/v1", kind="Training", metadata=ObjectMeta(), templates=templates
    )

    views = subject("Training", object=object(), workload=workload).pods()

    assert [view.path_of("spec") for view, _ in views] == [f"{path}.spec" for path in paths]


def test_a_finding_has_the_line_of_its_field() -> None:
    finding = subject().finding(REFUSED, "no", path="spec")

    assert (finding.file, finding.line, finding.subject) == ("a.yaml", 4, "Pod shop/web")


def test_an_object_without_a_namespace_shows_its_name_only() -> None:
    assert str(subject("Node", namespace="")) == "Node web"


def test_only_pods_and_what_makes_them_have_a_pod() -> None:
    pod = subject(object=pod_with())
    account = subject("ServiceAccount", object=ServiceAccount())
    refused = subject()

    subjects = Subjects([pod, account, refused])

    assert [each for each, _ in subjects.pods()] == [pod]


def test_configurations_are_known_by_name() -> None:
    subjects = Subjects([subject("ConfigMap", object=config_map("settings"))])

    assert subjects.known() == (("ConfigMap", "shop", "settings"),)


def annotated(value: str) -> ObjectMeta:
    return ObjectMeta(annotations={"reflet.dev/ignore": value})


def test_an_annotation_is_that_of_the_object_and_that_of_its_template() -> None:
    template = PodTemplateSpec(metadata=annotated("RFL003"))
    workload = Deployment(metadata=annotated("RFL002"), spec=DeploymentSpec(template=template))

    made = subject("Deployment", object=workload, workload=workload)
    found = made.annotation("reflet.dev/ignore")

    assert found == ("RFL002", "RFL003")


def test_an_annotation_of_a_refused_object_is_known_too() -> None:
    refused = subject(refused_annotations={"reflet.dev/ignore": "RFL001"})

    assert refused.annotation("reflet.dev/ignore") == ("RFL001",)
    assert refused.annotation("other") == ()
