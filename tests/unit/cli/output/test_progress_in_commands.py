"""What commands count while they ask a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from reflet.cli.commands import get, lint, used_by, watch
from reflet.cli.options import why_options
from reflet.cli.output.progress import Progress
from tests.unit.cli.scripted_api import ScriptedApi, reflet, table

MAPS = "/api/v1/configmaps"


class Seen:
    """Stands in for ``progress``: what was said, and what was counted at the end."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    @contextmanager
    def __call__(self, text: str, *, stream: TextIO | None = None) -> Iterator[Progress]:
        told = Progress()
        try:
            yield told
        finally:
            self.told.append((text, str(told)))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen = Seen()
    for command in (get, lint, used_by, watch, why_options):
        monkeypatch.setattr(command, "progress", seen)
    return seen


def listing(kind: str, *names: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": f"{kind}List",
        "metadata": {},
        "items": [{"metadata": {"name": name, "namespace": "shop"}} for name in names],
    }


@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "name"])
def test_objects_are_counted_by_get(seen: Seen, form: str) -> None:
    api = ScriptedApi(
        {MAPS: listing("ConfigMap", "a", "b")}, tables={MAPS: table(("a", 1), ("b", 2))}
    )

    with api.serving():
        assert reflet(api, "get", "cm", "-A", "-o", form) == 0

    written = [("printing", "2")] if form in {"json", "yaml"} else []
    assert seen.told == [("listing cm", "2"), *written]


def test_objects_of_every_list_are_counted_by_used_by(seen: Seen) -> None:
    documents = {
        "/api/v1/pods": listing("Pod", "a", "b"),
        "/apis/apps/v1/deployments": {
            **listing("Deployment", "c"),
            "apiVersion": "apps/v1",
        },
    }
    api = ScriptedApi(documents)

    with api.serving():
        assert reflet(api, "used-by", "cm/settings", "-A") == 0

    assert seen.told == [("asking the server", "3")]


def test_objects_of_every_list_are_counted_by_why(seen: Seen) -> None:
    api = ScriptedApi({"/api/v1/pods": listing("Pod", "a", "b")})

    with api.serving():
        assert reflet(api, "why", "-A") == 0

    assert seen.told == [("asking the server", "2")]


def test_objects_that_are_looked_up_are_counted_by_lint(seen: Seen, tmp_path: Path) -> None:
    names = [f"a{number}" for number in range(12)]
    sources = [{"configMapRef": {"name": name}} for name in names]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "web", "image": "web", "envFrom": sources}]},
    }
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(pod))
    maps = "/api/v1/namespaces/default/configmaps"
    api = ScriptedApi({maps: listing("ConfigMap", *names)})

    with api.serving():
        reflet(api, "lint", "-f", str(path), "--against", "cluster")

    assert seen.told[-1] == ("asking the server", "12")
    assert api.targets == [f"{maps}?limit=500"]


def test_a_watch_clears_the_line_away_before_it_prints() -> None:
    done: list[str] = []
    waiting = ExitStack()
    waiting.callback(done.append, "cleared")
    write = watch._after(waiting, done.append)

    write("first")
    write("second")

    assert done == ["cleared", "first", "second"]
