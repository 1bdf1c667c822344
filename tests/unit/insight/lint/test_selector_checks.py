"""Selectors that match nothing, and names of ports that nobody has."""

from __future__ import annotations

from pathlib import Path

from reflet.insight.lint.linting import lint
from reflet.insight.lint.rules import Finding
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of


def service(selector: str, port: str = "80", more: str = "") -> str:
    return (
        f"---\napiVersion: v1\nkind: Service\nmetadata: {{name: web{more}}}\n"
        f"spec:\n  selector: {{{selector}}}\n  ports:\n  - port: 80\n    targetPort: {port}\n"
    )


def pod(labels: str = "app: web", more: str = "") -> str:
    return (
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web{more}, labels: {{{labels}}}}}\n"
        "spec: {containers: [{name: c, image: i, ports: [{name: http, containerPort: 80}]}]}\n"
    )


BUDGET = (
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\n"
    "spec: {minAvailable: 1, selector: {matchLabels: {app: wbe}}}\n"
)


def linted(folder: Path, **files: str) -> list[Finding]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    paths = [str(folder / "one.yaml")] if len(files) == 1 else [str(folder)]
    return list(lint(subjects_of(read_applied(paths))))


def ids(findings: list[Finding]) -> list[str]:
    return [each.rule.id for each in findings]


def test_a_selector_that_matches_no_pod_of_its_file_is_told(tmp_path: Path) -> None:
    (finding,) = linted(tmp_path, one=service("app: wbe") + pod())

    assert (finding.rule.id, finding.line) == ("RFL031", 6)
    assert finding.message == "the selector app=wbe of Service default/web matches no pod"
    assert finding.fix == "use labels that the pods have; beside it are Pod web"
    assert linted(tmp_path, one=service("app: web") + pod()) == []


def test_a_budget_selects_too(tmp_path: Path) -> None:
    assert ids(linted(tmp_path, one=BUDGET.replace("wbe", "website") + pod("app: websites"))) == [
        "RFL031"
    ]


def test_pods_that_are_elsewhere_are_not_missed(tmp_path: Path) -> None:
    assert linted(tmp_path, one=service("app: wbe")) == []
    assert linted(tmp_path, one=service("app: other"), two=pod()) == []
    assert linted(tmp_path, one=service("app: other") + pod(more=", namespace: shop")) == []


def test_all_labels_but_one_are_near_in_another_file(tmp_path: Path) -> None:
    labels = "app: web, tier: frontend"

    assert ids(linted(tmp_path, one=service("app: web, tier: fronted"), two=pod(labels))) == [
        "RFL031"
    ]
    assert linted(tmp_path, one=service("app: web, tier: database"), two=pod(labels)) == []


def test_a_label_that_is_set_while_a_pod_runs_is_not_missed(tmp_path: Path) -> None:
    assert linted(tmp_path, one=service("app: web, role: leader") + pod()) == []


def test_a_budget_for_pods_that_are_switched_off_is_not_told(tmp_path: Path) -> None:
    assert linted(tmp_path, one=BUDGET.replace("wbe", "broker") + pod()) == []


def test_labels_of_controllers_and_pods_of_the_control_plane_are_not_judged(
    tmp_path: Path,
) -> None:
    numbered = "app: web, statefulset.kubernetes.io/pod-name: web-1"
    assert linted(tmp_path, one=service(numbered) + pod()) == []
    system = ", namespace: kube-system"
    assert linted(tmp_path, one=service("app: wbe", more=system) + pod(more=system)) == []


def test_what_an_operator_may_make_is_not_missed(tmp_path: Path) -> None:
    custom = (
        "---\napiVersion: x.dev/v1\nkind: Cache\nmetadata: {name: c}\n"
        "spec: {podMetadata: {labels: {app: wbe, more: x}}}\n"
    )

    assert linted(tmp_path, one=service("app: wbe") + pod() + custom) == []


def test_a_port_is_named_by_a_container_behind_the_service(tmp_path: Path) -> None:
    (finding,) = linted(tmp_path, one=service("app: web", "htpp") + pod())

    assert (finding.rule.id, finding.line) == ("RFL032", 9)
    assert finding.message == "no container behind Service default/web has a port named htpp"
    assert finding.fix == "the ports there are http"
    assert linted(tmp_path, one=service("app: web", "http") + pod()) == []


def test_what_a_kustomization_changes_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [one.yaml, two.yaml]\npatches: [{patch: x}]\n"
    )
    text = (
        service("app: wbe") + pod() + service("app: web", "https").replace("name: web", "name: b")
    )

    assert linted(tmp_path, one=text, two=BUDGET) == []
