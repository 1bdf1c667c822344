"""What sidecars of the files pick up by label, and what they nearly do."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.insight.lint.linting import lint
from reflet.insight.lint.rules import RULES, Finding
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of


def grafana(*variables: str, source: str = "") -> str:
    lines = "".join(
        f"    - {{name: {name}, value: {value}}}\n"
        for name, value in (
            each.split("=", 1)
            for each in ("LABEL=dash", "LABEL_VALUE='1'", "FOLDER=/f", *variables)
        )
    )
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: grafana, namespace: monitoring}\n"
        "spec:\n  containers:\n  - name: dashboards\n    image: example.com/k8s-sidecar\n"
        f"    env:\n{lines}{source}"
    )


def dash(name: str, key: str = "a.json", value: str = "1", **more: str) -> str:
    labels, namespace = f"{{dash: '{value}'}}", more.get("namespace", "monitoring")
    placed = f", namespace: {namespace}" if namespace else ""
    return (
        f"---\napiVersion: v1\nkind: {more.get('kind', 'ConfigMap')}\n"
        f"metadata: {{name: {name}{placed}, labels: {labels}, "
        f"annotations: {{{more.get('annotations', '')}}}}}\n"
        f"data: {{{key}: '{more.get('data', '')}'}}\n"
    )


def linted(folder: Path, **files: str) -> list[Finding]:
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    paths = [str(folder / "one.yaml")] if len(files) == 1 else [str(folder)]
    return list(lint(subjects_of(read_applied(paths)), chosen=RULES))


def ids(findings: list[Finding]) -> list[str]:
    return [each.rule.id for each in findings]


def test_what_a_sidecar_picks_up_is_used(tmp_path: Path) -> None:
    assert linted(tmp_path, one=grafana() + dash("a")) == []
    assert ids(linted(tmp_path, one=grafana("METHOD=LIST") + dash("a", value="2"))) == [
        "RFL019",
        "RFL036",
    ]


def test_an_object_that_is_labelled_for_no_sidecar_is_no_mistake(tmp_path: Path) -> None:
    assert ids(linted(tmp_path, one=dash("a"))) == ["RFL019"]


def test_two_objects_that_become_one_file_are_told(tmp_path: Path) -> None:
    (finding,) = linted(tmp_path, one=grafana() + dash("a") + dash("b"))

    assert (finding.rule.id, finding.subject) == ("RFL034", "ConfigMap monitoring/b")
    assert finding.message == (
        "key a.json of ConfigMap monitoring/b and key a.json of ConfigMap monitoring/a both "
        "become /f/a.json in the sidecar of Pod monitoring/grafana: only one of them is there"
    )
    assert finding.path == 'data["a.json"]'


@pytest.mark.parametrize(
    ("variables", "second"),
    [
        (("UNIQUE_FILENAMES='true'",), dash("b")),
        ((), dash("b", key="b.json")),
        ((), dash("b", annotations="k8s-sidecar-target-directory: other")),
        ((), dash("b", kind="Secret").replace("dash:", "other:")),
    ],
)
def test_files_of_their_own_do_not_meet(
    tmp_path: Path, variables: tuple[str, ...], second: str
) -> None:
    findings = linted(tmp_path, one=grafana(*variables) + dash("a") + second)

    assert "RFL034" not in ids(findings)


def test_objects_of_one_name_in_two_namespaces_meet(tmp_path: Path) -> None:
    both = dash("a") + dash("a", namespace="shop")

    assert ids(linted(tmp_path, one=grafana("NAMESPACE=ALL") + both)) == ["RFL034"]


def test_a_download_and_a_text_of_one_object_meet(tmp_path: Path) -> None:
    text = dash("a").replace("a.json: ''", "a.json: '', a.json.url: http://x")

    (finding,) = linted(tmp_path, one=grafana() + text)

    assert finding.message.startswith(
        "key a.json.url of ConfigMap monitoring/a and key a.json both become /f/a.json"
    )


def test_objects_in_several_folders_are_not_compared(tmp_path: Path) -> None:
    files = {"test/a": dash("a"), "live/a": dash("b"), "grafana": grafana()}

    assert linted(tmp_path, **files) == []
    assert ids(linted(tmp_path, **files, **{"live/b": dash("c")})) == ["RFL034"]


def test_a_folder_that_climbs_out_is_told_even_without_a_sidecar(tmp_path: Path) -> None:
    climbing = dash("a", annotations="k8s-sidecar-target-directory: x/../../etc")

    findings = linted(tmp_path, one=climbing)

    assert ids(findings) == ["RFL019", "RFL035"]
    assert findings[1].path == 'metadata.annotations["k8s-sidecar-target-directory"]'


def test_the_annotation_is_that_of_the_sidecar(tmp_path: Path) -> None:
    text = grafana("FOLDER_ANNOTATION=folder")

    assert ids(linted(tmp_path, one=text + dash("a", annotations="folder: ../x"))) == ["RFL035"]
    others = dash("a", annotations="k8s-sidecar-target-directory: ../x")
    assert linted(tmp_path, one=text + others) == []


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (
            dash("a", value="true"),
            (
                "ConfigMap monitoring/a has label dash=true, and the sidecar of Pod "
                "monitoring/grafana selects dash=1: it is not picked up"
            ),
            'label it dash: "1"',
        ),
        (
            dash("a", namespace="shop"),
            (
                "ConfigMap shop/a is labelled for the sidecar of Pod monitoring/grafana, which "
                "looks in namespace monitoring only: it is not picked up"
            ),
            "give the sidecar NAMESPACE: ALL, or a list that has shop",
        ),
        (
            dash("a", kind="Secret"),
            (
                "Secret monitoring/a is labelled for the sidecar of Pod monitoring/grafana, which "
                "looks for ConfigMaps only: it is not picked up"
            ),
            "give the sidecar RESOURCE: both",
        ),
    ],
)
def test_near_misses_are_told(tmp_path: Path, text: str, message: str, fix: str) -> None:
    findings = linted(tmp_path, one=grafana() + text)

    (finding,) = [each for each in findings if each.rule.id == "RFL036"]
    assert (finding.message, finding.fix) == (message, fix)


def test_what_another_sidecar_picks_up_is_no_miss(tmp_path: Path) -> None:
    other = "---\n" + grafana().replace("name: grafana", "name: other").replace("'1'", "'2'")

    assert linted(tmp_path, one=grafana() + other + dash("a", value="2")) == []


def test_in_folders_a_namespace_that_is_not_named_is_no_miss(tmp_path: Path) -> None:
    assert linted(tmp_path, grafana=grafana(), a=dash("a", namespace="")) == []


def test_a_label_that_is_not_known_may_be_any(tmp_path: Path) -> None:
    source = "    - {name: LABEL, valueFrom: {secretKeyRef: {name: keys, key: k}}}\n"

    findings = linted(tmp_path, one=grafana(source=source) + dash("a") + dash("b"))

    assert ids(findings) == ["RFL002"]


def test_what_a_kustomization_changes_is_left_alone(tmp_path: Path) -> None:
    kustomization = "resources: [grafana.yaml, a.yaml, b.yaml]\nnamePrefix: my-\n"
    text = {"grafana": grafana(), "a": dash("a"), "b": dash("b", value="2")}

    assert ids(linted(tmp_path, **text)) == ["RFL019", "RFL036"]
    assert "RFL036" not in ids(linted(tmp_path, kustomization=kustomization, **text))
