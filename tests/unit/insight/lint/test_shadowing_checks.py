"""Variables and files that hide others."""

from __future__ import annotations

from tests.unit.insight.lint.conftest import Linted

HEAD = """\
apiVersion: v1
kind: Secret
metadata: {name: settings}
stringData: {COLOR: canary-blue}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
"""


def test_env_over_env_from_is_only_noted(linted: Linted) -> None:
    text = (
        HEAD
        + "    envFrom: [{secretRef: {name: settings}}]\n"
        + "    env:\n    - {name: COLOR, value: red}\n"
    )

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line) == ("RFL008", 15)
    assert finding.message == ("container web: COLOR of env[0] hides that of Secret settings")


def test_a_name_twice_in_env_is_a_warning(linted: Linted) -> None:
    text = HEAD + "    env:\n    - {name: A, value: red}\n    - {name: A, value: blue}\n"

    (finding,) = linted(text)

    assert finding.rule.id == "RFL007"
    assert "A of env[1] hides that of env[0]" in finding.message


def test_a_prefix_keeps_variables_apart(linted: Linted) -> None:
    text = (
        HEAD + "    envFrom:\n    - secretRef: {name: settings}\n"
        "    - {prefix: B_, secretRef: {name: settings}}\n"
    )

    assert linted(text) == ()


def test_variables_of_services_may_be_overridden(linted: Linted) -> None:
    service = (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: db}\n"
        "spec: {clusterIP: 10.0.0.9, ports: [{port: 80}]}\n"
    )
    text = HEAD + "    env:\n    - {name: DB_SERVICE_HOST, value: other}\n" + service

    assert linted(text) == ()


def test_files_of_whole_objects_hide_each_other(linted: Linted) -> None:
    text = (
        HEAD
        + """\
  volumes:
  - name: all
    projected:
      sources:
      - secret: {name: settings}
      - configMap: {name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {COLOR: red}
"""
    )

    (finding,) = linted(text)

    assert finding.rule.id == "RFL015"
    assert (
        finding.message == "volume all: COLOR of ConfigMap settings hides that of Secret settings"
    )


def test_what_is_written_twice_to_no_effect_is_no_finding(linted: Linted) -> None:
    text = (
        HEAD
        + "    env:\n    - {name: A, value: red}\n    - {name: A, value: red}\n"
        + """\
  volumes:
  - name: all
    projected:
      sources:
      - secret: {name: settings}
      - secret: {name: settings, items: [{key: COLOR, path: COLOR}]}
"""
    )

    assert linted(text) == ()
