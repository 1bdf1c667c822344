"""What pods name besides configuration, and nobody has."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.errors import Forbidden
from reflet.insight.lint.assumptions import Assumptions
from reflet.insight.lint.linting import lint, others_wanted
from reflet.insight.lint.rules import Finding
from reflet.insight.lint.subjects import Subjects
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  serviceAccountName: web
  priorityClassName: high
  runtimeClassName: sandboxed
  containers: [{name: web, image: i}]
  volumes:
  - name: data
    persistentVolumeClaim: {claimName: data}
"""
NAMED = (
    ("ServiceAccount", "default", "web"),
    ("PriorityClass", "", "high"),
    ("RuntimeClass", "", "sandboxed"),
    ("PersistentVolumeClaim", "default", "data"),
)
THERE = """\
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: runsc
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""


def subjects(folder: Path, text: str) -> Subjects:
    path = folder / "a.yaml"
    path.write_text(text)
    return subjects_of(read_applied([str(path)]))


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    return [(each.rule.id, each.severity.value, each.line) for each in findings]


def test_what_is_named_and_not_there_is_a_warning_at_its_line(tmp_path: Path) -> None:
    found = lint(subjects(tmp_path, POD))

    assert told(found) == [
        ("RFL027", "warning", 5),
        ("RFL028", "warning", 6),
        ("RFL030", "warning", 7),
        ("RFL029", "warning", 11),
    ]
    assert found[0].message == (
        "ServiceAccount web does not exist in namespace default: no pod is created"
    )
    assert lint(subjects(tmp_path, POD + THERE)) == ()


def test_a_cluster_that_was_asked_makes_it_an_error_or_nothing(tmp_path: Path) -> None:
    files = subjects(tmp_path, POD)
    assert set(others_wanted(files)) == set(NAMED)
    assert others_wanted(subjects(tmp_path, POD + THERE)) == ()

    files = subjects(tmp_path, POD)
    assert {each.severity.value for each in lint(files, others=dict.fromkeys(NAMED, False))} == {
        "error"
    }
    assert lint(files, others=dict.fromkeys(NAMED, True)) == ()
    assert lint(files, others=dict.fromkeys(NAMED, Forbidden("no"))) == ()


def test_what_is_assumed_is_there(tmp_path: Path) -> None:
    texts = ("sa/web", "pc/high", "runtimeclass/sandboxed", "pvc/data")
    assume = Assumptions(texts)

    assert lint(subjects(tmp_path, POD), assume=assume) == ()
    assert assume.unused() == ()


def test_every_cluster_has_some(tmp_path: Path) -> None:
    text = POD.replace("AccountName: web", "AccountName: default").replace(
        "high", "system-node-critical"
    )
    text = text.replace("  runtimeClassName: sandboxed\n", "").partition("  volumes")[0]

    assert lint(subjects(tmp_path, text)) == ()


def test_a_near_name_is_offered(tmp_path: Path) -> None:
    other = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: websites}\n"

    found = lint(subjects(tmp_path, POD.replace("Name: web\n", "Name: website\n") + other))

    assert found[0].fix == (
        "did you mean websites? Otherwise create ServiceAccount website in namespace default"
    )


@pytest.mark.parametrize(("volume", "expected"), [("data", []), ("other", ["RFL029"])])
def test_a_stateful_set_makes_its_claims_itself(
    tmp_path: Path, volume: str, expected: list[str]
) -> None:
    text = f"""\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec:
      containers: [{{name: c, image: i}}]
      volumes: [{{name: {volume}, persistentVolumeClaim: {{claimName: x}}}}]
  volumeClaimTemplates:
  - metadata: {{name: data}}
    spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
"""

    assert [each.rule.id for each in lint(subjects(tmp_path, text))] == expected


def test_what_a_custom_resource_names_its_operator_may_make(tmp_path: Path) -> None:
    text = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: roll}
spec: {template: {spec: {serviceAccountName: web, containers: [{name: c, image: i}]}}}
"""

    assert lint(subjects(tmp_path, text)) == ()
