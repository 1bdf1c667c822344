"""Which objects there are, or will be, in a whole repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.insight.lint.linting import lint
from reflet.insight.lint.rules import UNUSED, Finding
from reflet.insight.reference_table import Tables, row_from
from reflet.manifests.applying import read_applied
from reflet.manifests.documented_objects import DocumentedObjects
from reflet.podconfig.gather_lint import subjects_of

NO_ROWS = Tables()


def pod(secret: str = "db", namespace: str = "", more: str = "") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web{where}}}\nspec:\n{more}"
        f"  containers: [{{name: c, image: i, envFrom: [{{secretRef: {{name: {secret}}}}}]}}]\n"
    )


def secret(namespace: str = "", name: str = "db") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}{where}}}\n"


def linted(
    folder: Path, *, more: Tables = NO_ROWS, unused: bool = False, **files: str
) -> list[Finding]:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / f"{path.name}.yaml").write_text(text)
    subjects = subjects_of(read_applied([str(folder)]), DocumentedObjects([str(folder)]))
    return [each for each in lint(subjects, more=more) if unused or each.rule is not UNUSED]


def ids(findings: list[Finding]) -> list[str]:
    return [each.rule.id for each in findings]


def test_what_is_nowhere_is_missing(tmp_path: Path) -> None:
    assert ids(linted(tmp_path, a=pod())) == ["RFL002"]


def test_a_file_without_a_namespace_goes_where_it_is_applied(tmp_path: Path) -> None:
    assert linted(tmp_path / "1", a=pod(namespace="shop"), b=secret()) == []
    assert linted(tmp_path / "2", a=pod(), b=secret("shop")) == []
    assert ids(linted(tmp_path / "3", a=pod(namespace="shop"), b=secret("other"))) == ["RFL020"]


def test_files_that_are_named_are_applied_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"{pod(namespace='shop')}---\n{secret()}")

    assert "RFL020" in ids(list(lint(subjects_of(read_applied([str(path)])))))


def test_a_kustomization_makes_what_it_generates(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("secretGenerator: [{name: db}]\n")

    assert linted(tmp_path, a=pod()) == []


def test_a_template_makes_what_it_names(tmp_path: Path) -> None:
    template = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata: {{ values }}\n"

    assert linted(tmp_path, a=pod(), b=template) == []


def test_a_document_that_creates_it_is_enough(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("kubectl create secret generic db --from-file=x\n")

    assert linted(tmp_path, a=pod()) == []


EXTERNAL = (
    "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e}\n"
    "spec: {target: {name: db}}\n"
)


def test_operators_make_what_their_objects_say(tmp_path: Path) -> None:
    assert linted(tmp_path, a=pod(), b=EXTERNAL) == []
    own = Tables(
        makers=(
            row_from({"group": "x.dev", "kind": "Vault", "names": "Secret", "path": "spec.into"}),
        )
    )
    vault = "apiVersion: x.dev/v1\nkind: Vault\nmetadata: {name: v}\nspec: {into: db}\n"
    assert ids(linted(tmp_path / "own", a=pod(), b=vault)) == ["RFL002"]
    assert linted(tmp_path / "own", a=pod(), b=vault, more=own) == []


def role(verbs: str) -> str:
    return (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\nrules:\n"
        "- {apiGroups: [''], resources: [secrets], resourceNames: [db], verbs: [get]}\n"
        f"- {{apiGroups: [''], resources: [secrets], verbs: [{verbs}]}}\n"
    )


def test_whoever_may_create_and_read_it_by_name_makes_it(tmp_path: Path) -> None:
    assert linted(tmp_path, a=pod(), b=role("create")) == []
    assert ids(linted(tmp_path, a=pod(), b=role("list"))) == ["RFL002"]


def job(args: str) -> str:
    return (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: make}\nspec:\n  template:\n    spec:\n"
        "      restartPolicy: Never\n"
        f"      containers: [{{name: c, image: i, args: [{args}]}}]\n"
    )


@pytest.mark.parametrize("args", ["create, --secret-name=db", "--tls-secret, db"])
def test_a_job_that_is_told_its_name_makes_it(tmp_path: Path, args: str) -> None:
    may_create = role("create").replace("[db]", "[other]")

    assert linted(tmp_path, a=pod(), b=may_create, c=job(args)) == []
    assert ids(linted(tmp_path, a=pod("other2"), b=may_create, c=job(args))) == ["RFL002"]
    assert ids(linted(tmp_path, a=pod(), b=role("list"), c=job(args))) == ["RFL002"]
    assert ids(linted(tmp_path, a=pod(), b=may_create, c=job(""))) == ["RFL002"]


def test_an_annotation_of_a_service_makes_it(tmp_path: Path) -> None:
    asks = "service.beta.openshift.io/serving-cert-secret-name: db"
    service = (
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: web, annotations: {{{asks}}}}}\n"
        "spec: {ports: [{port: 443}]}\n"
    )

    assert linted(tmp_path, a=pod(), b=service) == []


def test_whatever_a_custom_resource_mentions_is_used(tmp_path: Path) -> None:
    hashed = "db-5h2kt7g9bc"
    custom = (
        f"apiVersion: x.dev/v1\nkind: Any\nmetadata: {{name: v}}\nspec: {{a: [{{b: {hashed}}}]}}\n"
    )

    assert ids(linted(tmp_path / "1", a=secret(name=hashed), unused=True)) == ["RFL019", "RFL033"]
    assert linted(tmp_path / "2", a=secret(name=hashed), b=custom, unused=True) == []


def test_service_accounts_use_what_they_pull_with(tmp_path: Path) -> None:
    account = (
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n"
        "imagePullSecrets: [{name: db}]\n"
    )

    assert linted(tmp_path, a=secret(), b=account, unused=True) == []
