"""Which rule a problem of a pod breaks."""

from __future__ import annotations

from typing import Any

from tests.tills import TILL, till_definition
from tests.unit.insight.lint.conftest import Linted

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
"""


def ids(findings: Any) -> list[str]:
    return [finding.rule.id for finding in findings]


def test_a_missing_key_has_the_line_of_the_key(linted: Linted) -> None:
    text = (
        POD
        + """\
    env:
    - name: A
      valueFrom:
        configMapKeyRef:
          name: settings
          key: color
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
"""
    )

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line) == ("RFL003", 13)
    assert finding.path == "spec.containers[0].env[0].valueFrom.configMapKeyRef.key"
    assert finding.said == "couldn't find key color in ConfigMap default/settings"


def test_the_line_in_a_template_is_found(linted: Linted) -> None:
    text = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: tidy}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: tidy
            image: i
            envFrom:
            - secretRef: {name: gone}
"""

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line, finding.subject) == (
        "RFL002",
        15,
        "CronJob default/tidy",
    )


def test_variables_of_services_may_be_in_the_cluster(linted: Linted) -> None:
    text = POD + '    env:\n    - {name: A, value: "$(REDIS_SERVICE_HOST) $(DB_PORT_5432_TCP)"}\n'

    assert linted(text) == ()


def test_variables_of_services_need_service_links(linted: Linted) -> None:
    text = POD + '    env:\n    - {name: A, value: "$(REDIS_SERVICE_HOST)"}\n'

    assert ids(linted(text + "  enableServiceLinks: false\n")) == ["RFL009"]


def test_a_missing_pull_secret_is_a_warning_of_its_own(linted: Linted) -> None:
    (finding,) = linted(POD + "  imagePullSecrets: [{name: gone}]\n")

    assert (finding.rule.id, finding.severity.value) == ("RFL024", "warning")


def test_a_variable_that_is_set_by_something_missing_is_not_called_unset(linted: Linted) -> None:
    text = (
        POD
        + """\
    args: [$(PASSWORD)]
    env:
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: gone, key: password}}}
    - {name: URL, value: "redis://:$(PASSWORD)@redis"}
"""
    )

    assert ids(linted(text)) == ["RFL002"]


def masked(*variables: str, name: str = "settings") -> str:
    lines = [
        f"    - {{name: {each}, valueFrom: {{configMapKeyRef: "
        f"{{name: {name}, key: {each.lower()}, optional: true}}}}}}"
        for each in variables
    ]
    return "\n".join((f"{POD}    env:", *lines, ""))


SETTINGS = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {color: blue}\n"


def test_optional_keys_that_are_not_set_are_one_note(linted: Linted) -> None:
    (finding,) = linted(masked("A", "B", "COLOR", "C") + SETTINGS)

    assert (finding.rule.id, finding.severity.value) == ("RFL004", "note")
    assert finding.message == "3 optional keys of ConfigMap settings are not set: a, b, c"


def test_optional_references_to_nothing_are_one_note(linted: Linted) -> None:
    (finding,) = linted(masked("A", "B"))

    assert finding.message == (
        "ConfigMap settings does not exist, and 2 optional references to it are empty"
    )


def test_an_optional_key_that_is_nearly_right_is_a_warning(linted: Linted) -> None:
    finding, note = linted(masked("COLOUR", "A") + SETTINGS)

    assert (finding.severity.value, finding.fix[:19]) == ("warning", "did you mean color?")
    assert note.severity.value == "note"


def test_a_sub_path_without_its_variable_is_unresolved(linted: Linted) -> None:
    text = (
        POD
        + """\
    volumeMounts:
    - {name: v, mountPath: /v, subPathExpr: $(POD)}
  volumes: [{name: v, emptyDir: {}}]
"""
    )

    assert ids(linted(text)) == ["RFL009"]


def test_what_is_only_not_known_yet_is_no_finding(linted: Linted) -> None:
    text = (
        POD
        + """\
    env:
    - name: IP
      valueFrom: {fieldRef: {fieldPath: status.podIP}}
    - name: CPU
      valueFrom: {resourceFieldRef: {resource: limits.cpu}}
"""
    )

    assert linted(text) == ()


def test_that_rules_were_not_checked_is_no_finding_beside_the_reason(linted: Linted) -> None:
    rules = 'required: [spec], x-kubernetes-validations: [{rule: "self.spec.size > 1"}]'
    spec = "{type: object, properties: {size: {type: integer}}}"

    (finding,) = linted(f"{till_definition(spec, more=rules)}---\n{TILL}")

    assert finding.message.endswith("spec: Required value")
