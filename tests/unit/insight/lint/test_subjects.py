"""Objects of files, and the lines of their fields."""

from __future__ import annotations

import pytest

from reflet.api.core.pods import PodTemplateSpec
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.core.workloads import Deployment, DeploymentSpec
from reflet.api.meta import ObjectMeta
from reflet.insight.lint.rules import REFUSED
from reflet.insight.lint.subjects import Subject, Subjects
from tests.unit.resolution.scenes import config_map, pod_with


def subject(kind: str = "Pod", **more: object) -> Subject:
    facts = {"file": "a.yaml", "namespace": "shop", "name": "web", "line_of": len, **more}
    return Subject(kind=kind, **facts)  # type: ignore[arg-type]  # the facts of one test


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Pod", "spec.volumes[0]"),
        ("Deployment", "spec.template.spec.volumes[0]"),
        ("CronJob", "spec.jobTemplate.spec.template.spec.volumes[0]"),
    ],
)
def test_a_field_of_the_pod_is_found_in_the_object(kind: str, path: str) -> None:
    assert subject(kind).path_of("spec.volumes[0]") == path


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

    found = subject("Deployment", object=workload).annotation("reflet.dev/ignore")

    assert found == ("RFL002", "RFL003")


def test_an_annotation_of_a_refused_object_is_known_too() -> None:
    refused = subject(refused_annotations={"reflet.dev/ignore": "RFL001"})

    assert refused.annotation("reflet.dev/ignore") == ("RFL001",)
    assert refused.annotation("other") == ()
