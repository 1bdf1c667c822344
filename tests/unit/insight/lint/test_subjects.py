"""Objects of files, and the lines of their fields."""

from __future__ import annotations

import pytest

from reflet.api.core.small_kinds import ServiceAccount
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
