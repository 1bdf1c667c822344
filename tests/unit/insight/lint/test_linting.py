"""All rules on all objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, NotFound
from reflet.insight.lint.assumptions import Assumptions
from reflet.insight.lint.linting import lint, wanted_from_cluster
from reflet.insight.lint.rules import MISSING_KEY, MISSING_OBJECT, chosen_rules
from reflet.insight.lint.subjects import Subjects
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of
from tests.unit.insight.lint.conftest import Linted

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    envFrom:
    - configMapRef: {name: settings}
    - secretRef: {name: credentials}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
"""
SETTINGS: Any = ("ConfigMap", "default", "settings")
CREDENTIALS: Any = ("Secret", "default", "credentials")


def subjects(folder: Path, text: str = POD) -> Subjects:
    path = folder / "a.yaml"
    path.write_text(text)
    return subjects_of(read_applied([str(path)]))


def test_findings_come_in_the_order_of_the_file(linted: Linted) -> None:
    assert [(each.line, each.rule.id) for each in linted(POD)] == [(9, "RFL002"), (10, "RFL002")]


def test_only_chosen_rules_are_told(tmp_path: Path) -> None:
    assert lint(subjects(tmp_path), chosen=[MISSING_KEY]) == ()
    assert len(lint(subjects(tmp_path), chosen=[MISSING_OBJECT])) == 2


def test_what_is_assumed_is_not_missing(tmp_path: Path) -> None:
    assume = Assumptions(["cm/settings", "other/secret/*", "secret/elsewhere"])

    (finding,) = lint(subjects(tmp_path), chosen=[MISSING_OBJECT], assume=assume)

    assert finding.line == 10
    assert assume.unused() == ("other/secret/*", "secret/elsewhere")


ASSUMING = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    envFrom: [{secretRef: {name: db, optional: true}}]
    env:
    - {name: URL, value: https://$(HOST)/}
    volumeMounts: [{name: v, mountPath: /v, subPath: key}]
  volumes: [{name: v, secret: {secretName: db, optional: true}}]
"""


def test_nothing_is_said_about_what_is_in_an_assumed_object(tmp_path: Path) -> None:
    chosen = chosen_rules(ignore=["never-refreshed"])

    without = {each.rule.id for each in lint(subjects(tmp_path, ASSUMING), chosen=chosen)}
    assumed = lint(subjects(tmp_path, ASSUMING), chosen=chosen, assume=Assumptions(["secret/db"]))

    assert ("RFL004" in without, assumed) == (True, ())


KEY = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    env:
    - {name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
    - {name: B, valueFrom: {configMapKeyRef: {name: settings, key: b}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
"""


def test_a_key_of_an_object_in_the_files_is_assumed(tmp_path: Path) -> None:
    assume = Assumptions(["cm/settings:a"])

    (finding,) = lint(subjects(tmp_path, KEY), chosen=[MISSING_KEY], assume=assume)

    assert (finding.line, assume.unused()) == (10, ())


def test_what_the_files_have_is_not_assumed(tmp_path: Path) -> None:
    assume = Assumptions(["cm/other"])

    lint(subjects(tmp_path), assume=assume)

    assert assume.unused() == ("cm/other",)


def test_a_cluster_is_asked_for_what_pods_name_and_what_files_hold(tmp_path: Path) -> None:
    assert set(wanted_from_cluster(subjects(tmp_path))) == {
        SETTINGS,
        CREDENTIALS,
        ("ConfigMap", "default", "other"),
    }


def test_objects_of_the_cluster_count(linted: Linted) -> None:
    settings = ConfigMap(metadata=ObjectMeta(namespace="default", name="settings"))
    not_there = NotFound('secrets "credentials" not found')

    (finding,) = linted(POD, live={SETTINGS: settings, CREDENTIALS: not_there})

    assert finding.said == 'secret "credentials" not found'


def test_what_the_cluster_does_not_show_is_not_judged(linted: Linted) -> None:
    assert linted(POD, live={SETTINGS: Forbidden("no"), CREDENTIALS: Forbidden("no")}) == ()


def test_files_win_over_the_cluster(linted: Linted) -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
    env:
    - {name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {b: "1"}
"""
    there = ConfigMap(metadata=ObjectMeta(namespace="default", name="settings"), data={"a": "1"})

    assert [each.rule.id for each in linted(text, live={SETTINGS: there})] == ["RFL003"]


def test_refused_objects_do_not_exist(linted: Linted) -> None:
    text = (
        POD + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {'a b': x}\n"
    )

    assert [each.rule.id for each in linted(text)] == ["RFL002", "RFL002", "RFL001"]
