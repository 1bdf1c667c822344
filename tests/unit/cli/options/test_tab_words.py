"""What Tab offers of what a server, a kubeconfig and files know, and its silence when they fail."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from click.shell_completion import ShellComplete

from reflet.cli.main import reflet
from reflet.cli.options import tab_words
from tests.unit.cli.scripted_api import SILENCE, ScriptedApi, refusal, table

REFLET: Final = Path(sys.executable).with_name("reflet")
PODS: Final = "/api/v1/namespaces/shop/pods"
DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/shop/deployments"
MAPS: Final = "/api/v1/namespaces/shop/configmaps"
WIDGETS: Final = {
    "apiVersion": "apidiscovery.k8s.io/v2",
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "example.com"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {
                            "resource": "widgets",
                            "responseKind": {"kind": "Widget"},
                            "scope": "Namespaced",
                        },
                        {"resource": "events", "responseKind": {"kind": "Event"}},
                    ],
                }
            ],
        }
    ],
}
CORE: Final = {"kind": "APIGroupDiscoveryList", "items": []}


def offered(*words: str, kubeconfig: Path | None = None, patience: str = "60") -> list[str]:
    """The words that a shell is told for the last one; nothing may be said beside them."""
    environment = {
        **os.environ,
        "REFLET_COMPLETION_TIMEOUT": patience,
        **({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {}),
        "_REFLET_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("reflet", *words)),
        "COMP_CWORD": str(len(words)),
    }
    finished = subprocess.run(
        [REFLET], env=environment, capture_output=True, text=True, check=False
    )
    assert finished.stderr == ""
    return [line.partition(",")[2] for line in finished.stdout.splitlines() if line]


def kubeconfig(folder: Path, url: str, **user: Any) -> Path:
    path = folder / "config"
    context = {"cluster": "here", "user": "me", "namespace": "shop"}
    path.write_text(
        json.dumps(
            {
                "clusters": [{"name": "here", "cluster": {"server": url}}],
                "users": [{"name": "me", "user": user}],
                "contexts": [
                    {"name": "dev", "context": context},
                    {"name": "other", "context": {**context, "namespace": "other"}},
                    {"name": "$(touch gone)", "context": context},
                ],
                "current-context": "dev",
            }
        )
    )
    return path


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The same in this process, which is quicker."""
    monkeypatch.setattr(tab_words, "_answered", lambda ask: ask(math.inf))
    completer = ShellComplete(reflet, {}, "reflet", "_REFLET_COMPLETE")

    def at_once(path: Path, *words: str) -> list[str]:
        monkeypatch.setenv("KUBECONFIG", str(path))
        *before, unfinished = words
        return [item.value for item in completer.get_completions(before, unfinished)]

    return at_once


def on_server(folder: Path, api: ScriptedApi, *words: str) -> list[str]:
    with api.serving():
        return offered(*words, kubeconfig=kubeconfig(folder, api.url))


def server() -> ScriptedApi:
    tables = {
        PODS: table(("web-1",), ("job-1",)),
        DEPLOYMENTS: table(("web",), ("db",)),
        DEPLOYMENTS.replace("shop", "other"): table(("elsewhere",)),
        MAPS: table(("settings",), ("words",)),
        "/api/v1/namespaces": table(("shop",), ("other",)),
        "/apis/example.com/v1/namespaces/shop/widgets": table(("w1",)),
    }
    return ScriptedApi({"/api": CORE, "/apis": WIDGETS}, tables=tables)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("env", "deploy/"), ["deploy/web", "deploy/db"]),
        (("env", "deploy/w"), ["deploy/web"]),
        (("env", "deployments", ""), ["web", "db"]),
        (("env", "pods", "web-1", ""), []),
        (("env", "deploy/web", ""), []),
        (("env", "w"), ["web-1"]),
        (("env", "jo"), ["jobs", "job-1"]),
        (("why", "w"), ["web-1"]),
        (("why", "deploy", "web", ""), ["db"]),
        (("why", "deploy/web", "sta"), ["statefulsets/"]),
        (("get", "cm", "settings", ""), ["words"]),
        (("get", "cm/words", "secr"), ["secrets/"]),
        (("get", "widg"), ["widgets"]),
        (("get", "widgets", ""), ["w1"]),
        (("get", "events."), ["events.events.k8s.io", "events.example.com"]),
        (("get", "pods,configm"), ["pods,configmaps"]),
        (("get", "sts"), ["sts"]),
        (("used-by", ""), ["configmaps", "secrets"]),
        (("used-by", "cm", "w"), ["words"]),
        (("get", "pods", "-n", ""), ["shop", "other"]),
        (("get", "--namespace", "s"), ["shop"]),
        (("env", "-n", "other", "deploy/"), ["deploy/elsewhere"]),
        (("env", "--context", "other", "deploy/"), ["deploy/elsewhere"]),
    ],
)
def test_the_server_is_asked(
    at_once: Callable[..., list[str]], words: tuple[str, ...], expected: list[str], tmp_path: Path
) -> None:
    api = server()
    with api.serving():
        assert at_once(kubeconfig(tmp_path, api.url), *words) == expected


def test_names_are_asked_for_without_their_objects(tmp_path: Path) -> None:
    api = server()

    assert on_server(tmp_path, api, "env", "deploy/") == ["deploy/web", "deploy/db"]
    assert api.targets == [f"{DEPLOYMENTS}?limit=500&includeObject=None"]


def test_words_that_mean_something_to_a_shell_are_not_offered(tmp_path: Path) -> None:
    api = ScriptedApi(tables={PODS: table(("a b",), ("$(x)",), ("ok",), ("new\nline",))})

    assert on_server(tmp_path, api, "env", "pod/") == ["pod/ok"]


@pytest.mark.parametrize(
    ("flag", "expected"),
    [("--context", ["dev", "other"]), ("--cluster", ["here"]), ("--user", ["me"])],
)
def test_the_kubeconfig_is_read(flag: str, expected: list[str], tmp_path: Path) -> None:
    kubeconfig(tmp_path, "http://127.0.0.1:1")

    # HOME is that folder; a shell leaves ~ to the program here.
    assert offered("get", "--kubeconfig", "~/config", flag, "") == expected


FILES: Final = """\
apiVersion: v1
kind: Pod
metadata: {name: in-a-file}
spec: {containers: [{name: a, image: a}]}
"""


def test_with_files_names_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(FILES)

    assert offered("env", "-f", "~/pod.yaml", "pod/") == ["pod/in-a-file"]
    assert offered("env", "-f", "-", "pod/") == []


def test_a_file_that_cannot_be_read_offers_nothing_in_silence(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("{")

    assert offered("env", "-f", str(tmp_path / "pod.yaml"), "pod/") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("get", "configm"), ["configmaps"]),
        (("env", "pod/"), []),
        (("get", "-n", ""), []),
        (("get", "--context", ""), []),
    ],
)
def test_without_a_kubeconfig_there_are_the_built_in_types(
    words: tuple[str, ...], expected: list[str]
) -> None:
    assert offered(*words) == expected


@pytest.mark.parametrize(
    "answer",
    [
        refusal(401, "Unauthorized", "who?"),
        {"kind": "PodList", "items": [{"metadata": {"name": "a"}}]},
        {"kind": "Table", "rows": "nonsense"},
    ],
)
def test_a_refusal_offers_nothing_in_silence(answer: Mapping[str, Any], tmp_path: Path) -> None:
    assert on_server(tmp_path, ScriptedApi(tables={PODS: answer}), "env", "pod/") == []


def test_a_server_that_is_away_offers_nothing_in_silence(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "http://127.0.0.1:1")

    assert offered("env", "pod/", kubeconfig=path) == []
    assert offered("get", "configm", kubeconfig=path) == ["configmaps"]


def test_a_broken_kubeconfig_offers_nothing_in_silence(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("{]")

    assert offered("env", "pod/", kubeconfig=tmp_path / "config") == []


@pytest.mark.parametrize("patience", ["0.5", "", "soon"])
def test_a_server_that_says_nothing_is_not_waited_for(tmp_path: Path, patience: str) -> None:
    api = ScriptedApi(tables={PODS: SILENCE})
    with api.serving():
        path = kubeconfig(tmp_path, api.url)
        assert offered("env", "pod/", kubeconfig=path, patience=patience) == []


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh")
def test_a_login_program_cannot_ask_and_ends_with_its_time(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    script = (
        f"echo $$ > {trace}.new; mv {trace}.new {trace}; echo password: >&2; "
        "read answer < /dev/tty; exec sleep 600"
    )
    path = kubeconfig(
        tmp_path,
        "https://127.0.0.1:1",
        exec={
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", script],
            "interactiveMode": "IfAvailable",
        },
    )

    assert offered("env", "pod/", kubeconfig=path, patience="3") == []

    # Unless it had not begun at all, it is gone before Tab has answered.
    assert not trace.is_file() or not Path("/proc", trace.read_text().strip()).exists()
