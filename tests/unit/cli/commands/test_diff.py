"""``reflet diff`` on files: what a person sees, what a pull request gets, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflet.cli.main import run
from tests.git_calls import git

CANARY = "canary-hush-hush"
SHOP = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings}}
data:
  level: {level}
  app.conf: "a=1\\nlevel={level}\\n"
---
apiVersion: v1
kind: Secret
metadata: {{name: vault}}
stringData: {{password: {password}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: i
        env:
        - {{name: LOG_LEVEL, valueFrom: {{configMapKeyRef: {{name: settings, key: level}}}}}}
        - {{name: PASSWORD, valueFrom: {{secretKeyRef: {{name: vault, key: password}}}}}}
        - {{name: SAME, value: same}}
        volumeMounts: [{{name: conf, mountPath: /etc/app}}]
      volumes:
      - {{name: conf, configMap: {{name: settings, items: [{{key: app.conf, path: app.conf}}]}}}}
"""


def shop(level: str = "info", password: str = CANARY) -> str:
    return SHOP.format(level=level, password=password)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def two(files: Path, before: str, after: str, *arguments: str) -> int:
    paths = [files / name for name in ("before.yaml", "after.yaml")]
    for path, text in zip(paths, (before, after), strict=True):
        path.write_text(text)
    return run(["reflet", "diff", "-f", str(paths[0]), "--to-filename", str(paths[1]), *arguments])


def test_equal_files_have_no_difference(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = two(files, shop(), shop())

    assert (code, capsys.readouterr().out) == (0, "no difference: 1 workload compared\n")


def test_a_report_shows_what_changes_and_counts_what_stays(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = two(files, shop(), shop("debug"))

    assert code == 1
    assert capsys.readouterr().out.splitlines() == [
        "deployment/web: 3 pods need a restart",
        "  container web (2 variables and 0 files stay as they are)",
        "    ~ LOG_LEVEL  info → debug  (configmap/settings level)",
        "    ~ /etc/app/app.conf  changed  (configmap/settings app.conf)",
        "        @@ -1,2 +1,2 @@",
        "         a=1",
        "        -level=info",
        "        +level=debug",
        "",
        "1 of 1 workload differs",
    ]


@pytest.mark.parametrize("form", ["text", "json", "yaml", "markdown", "github"])
def test_secrets_are_masked_in_every_form_and_equal_ones_are_marked_alike(
    files: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = two(files, shop(), shop(password="canary-changed"), "-o", form)

    output = capsys.readouterr()
    assert code == 1
    assert "canary" not in output.out + output.err
    assert "‹secret 16 B" in output.out


def test_values_of_secrets_are_shown_on_request(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two(files, shop(), shop(password="canary-changed"), "--reveal")

    assert f"{CANARY} → canary-changed" in capsys.readouterr().out


def test_a_pull_request_gets_a_sentence_and_everything_below(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two(files, shop(), shop("debug"), "-o", "markdown")

    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == (
        "- LOG&#95;LEVEL info → debug, /etc/app/app.conf changed in deployment/web; "
        "3 pods need a restart"
    )
    assert (
        "| deployment/web | web | LOG&#95;LEVEL | info | debug | configmap/settings level |"
        in lines
    )


def test_a_value_cannot_write_markdown_or_commands(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "'<img src=x>|@everyone `x` ::error::x'"
    for form in ("markdown", "github"):
        two(files, shop(), shop(evil), "-o", form)
        said = capsys.readouterr().out
        if form == "markdown":
            assert "<img" not in said
            assert "@everyone" not in said
        else:
            assert said.count("\n") == 1


def test_a_document_holds_both_sides(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two(files, shop(), shop("debug"), "-o", "json")

    (workload,) = json.loads(capsys.readouterr().out)["workloads"]
    (container,) = workload["containers"]
    (change,) = container["variables"]
    assert (workload["differs"], workload["needsRestart"], workload["replicas"]) == (True, True, 3)
    assert (change["before"]["value"], change["after"]["value"]) == ("info", "debug")
    assert container["equal"] == {"variables": 2, "files": 0}


def test_workloads_come_and_go(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two(files, shop(), shop().replace("name: web}", "name: api}", 1))

    said = capsys.readouterr().out
    assert "deployment/web: gone" in said
    assert "deployment/api: new" in said


def test_overlays_of_other_namespaces_are_compared_by_name(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def inside(namespace: str, level: str) -> str:
        text = shop(level)
        for name in ("settings", "vault", "web"):
            text = text.replace(f"{{name: {name}}}", f"{{name: {name}, namespace: {namespace}}}", 1)
        return text

    two(files, inside("dev", "info"), inside("prod", "debug"))

    assert "~ LOG_LEVEL  info → debug" in capsys.readouterr().out


@pytest.fixture
def repository(files: Path) -> Path:
    (files / "web.yaml").write_text(shop())
    git(files, "init", "--quiet")
    git(files, "add", "--all")
    git(files, "commit", "--quiet", "--message=one")
    return files


def test_files_are_compared_with_a_revision(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "web.yaml").write_text(shop("debug"))

    assert run(["reflet", "diff", "-f", str(repository), "--rev", "HEAD"]) == 1
    assert "~ LOG_LEVEL  info → debug" in capsys.readouterr().out

    git(repository, "commit", "--quiet", "--all", "--message=two")
    assert run(["reflet", "diff", "-f", str(repository), "--rev", "HEAD"]) == 0
    assert run(["reflet", "diff", "-f", str(repository), "--rev", "HEAD~1..HEAD"]) == 1
    assert run(["reflet", "diff", "deploy/web", "-f", str(repository), "--rev", "HEAD~1"]) == 1


def test_a_mistake_in_a_revision_is_named_as_git_names_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "web.yaml").write_text("a: [")
    git(repository, "commit", "--quiet", "--all", "--message=broken")
    (repository / "web.yaml").write_text(shop())

    code = run(["reflet", "diff", "-f", str(repository / "web.yaml"), "--rev", "HEAD"])

    assert code == 2
    assert "error: HEAD:web.yaml:" in capsys.readouterr().err


def test_two_workloads_of_the_files_are_compared(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = files / "web.yaml"
    job = shop().rpartition("---")[2].replace("name: web}", "name: api}", 1)
    path.write_text(shop() + "---" + job.replace("value: same", "value: other"))

    code = run(["reflet", "diff", "deploy/web", "deploy/api", "-f", str(path)])

    assert code == 1
    assert "~ SAME  same → other" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "with what? give -f, --rev, --to-context or a second TYPE/NAME"),
        (("deploy/web",), "with what?"),
        (("a.yaml", "b.yaml"), "a.yaml is a file: name files with -f"),
        (("--rev", "main"), "--rev compares files: name them with -f"),
        (("a/b", "c/d", "e/f"), "two at most"),
        (("deploy/web", "api"), "write TYPE/NAME for both"),
        (("--to-context", "prod"), "name what is compared"),
        (("a/b", "-f", "x", "--to-context", "prod"), "files are compared with one cluster"),
        (("-f", "x", "--rev", "a", "--to-filename", "y"), "one other side at a time"),
        (("-f", "x", "--rev", "a.."), "is no revision"),
    ],
)
def test_what_has_no_two_sides_is_refused(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["reflet", "diff", *arguments])

    assert code == 2
    assert words in capsys.readouterr().err


def test_a_name_that_neither_side_has_is_a_mistake(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert two(files, shop(), shop(), "deploy/nope") == 2
    assert "neither side has it" in capsys.readouterr().err
