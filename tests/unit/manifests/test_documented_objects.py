"""What documents tell people to create is taken to exist, and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.manifests.documented_objects import DocumentedObjects


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.md", "kubectl create secret generic db --from-literal=a=b", ("Secret", "db")),
        ("a.md", "`kubectl -n x create secret tls certs`", ("Secret", "certs")),
        ("a.sh", "kubectl create -n shop configmap settings", ("ConfigMap", "settings")),
        ("Makefile", "\tkubectl create cm \\\n\t  settings", ("ConfigMap", "settings")),
        (
            "a.txt",
            "create secret docker-registry --save-config=true regcred",
            ("Secret", "regcred"),
        ),
        ("a.rst", "kubectl create serviceaccount robot.", ("ServiceAccount", "robot")),
        ("a.md", "kubectl create priorityclass high --value=1", ("PriorityClass", "high")),
        (
            "a.md",
            "```yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: game\n```",
            ("ConfigMap", "game"),
        ),
        ("a.md", "secretGenerator:\n- name: mysql-pass\n  literals: []", ("Secret", "mysql-pass")),
    ],
)
def test_commands_and_examples_of_documents_are_known(
    tmp_path: Path, name: str, text: str, found: tuple[str, str]
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).write_text(text)
    documented = DocumentedObjects([str(tmp_path)])

    assert documented.has(*found)
    assert not documented.has("Secret", "other")


def test_only_what_was_asked_for_is_told(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("".join(f"kubectl create secret generic s{each}\n" for each in range(9)))
    documented = DocumentedObjects([str(tmp_path)])
    assert documented.remark() == ""

    assert documented.has("Secret", "s1")
    one = documented.remark()
    assert all(documented.has("Secret", f"s{each}") for each in range(5))

    assert one == (
        f"1 object taken to exist because documents say how to create it: Secret s1 ({path})"
    )
    assert documented.remark().startswith("5 objects taken to exist")
    assert documented.remark().endswith("and 2 more")


def test_manifests_large_files_and_hidden_folders_are_no_documents(tmp_path: Path) -> None:
    command = "kubectl create secret generic db\n"
    (tmp_path / "a.yaml").write_text(command)
    (tmp_path / "b.md").write_text(command + "x" * (1 << 20))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/c.md").write_text(command)

    assert not DocumentedObjects([str(tmp_path), str(tmp_path / "gone")]).has("Secret", "db")
