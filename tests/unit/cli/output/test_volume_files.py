"""Watched files follow their manifests, and stay while these are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from reflet.cli.options.connection_options import ConnectionChoice
from reflet.cli.options.pod_options import PodChoice
from reflet.cli.output.volume_files import volumes_only, watch_manifests
from reflet.manifests.files import Sources
from reflet.resolution.references.references import references_of
from tests.unit.cli.shop_files import config_map, pod
from tests.unit.resolution.scenes import pod_with

VOLUMES = (
    "  volumes: [{name: config, configMap: {name: settings}}, "
    "{name: more, configMap: {name: others, optional: true}}]\n"
)


class Enough(Exception):
    """Whoever watches has seen enough."""


class Watching:
    """Watches a file, and does something to it at each look."""

    def __init__(self, folder: Path) -> None:
        self.manifest = folder / "pod.yaml"
        self.out = folder / "out"
        self._size = 0

    def write(self, data: str) -> None:
        # The same second may see several writings: another size tells them apart.
        self._size += 1
        text = pod("", VOLUMES + config_map(data)) if data.startswith("{") else data
        self.manifest.write_text(f"{text}{'#' * self._size}\n")

    def run(self, *steps: Callable[[], None], names: tuple[str, ...] = ()) -> None:
        choice = PodChoice(
            (),
            ConnectionChoice({"namespace": ""}),
            files=Sources(paths=(str(self.manifest),)),
            selector="",
            all_namespaces=False,
        )
        remaining: Iterator[Callable[[], None]] = iter(steps)

        def pause(_: float) -> None:
            step = next(remaining, None)
            if step is None:
                raise Enough
            step()

        with pytest.raises(Enough):
            watch_manifests(choice, names, self.out, verbose=False, pause=pause)


@pytest.fixture
def watching(tmp_path: Path) -> Watching:
    return Watching(tmp_path)


def test_files_follow_the_manifest_and_the_changes_are_told(
    watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.write("{a: one, b: two}")

    watching.run(lambda: watching.write("{a: three, c: four}"))

    assert (watching.out / "config/a").read_text() == "three"
    assert capsys.readouterr().out == "volume config: +a +b\nvolume config: +c -b ~a\n"


def test_nothing_is_said_while_nothing_changes(
    watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.write("{a: one}")

    watching.run(lambda: None, lambda: watching.write("{a: one}"), lambda: None)

    assert capsys.readouterr().out == "volume config: +a\n"


def test_files_stay_while_the_manifest_cannot_be_read(
    watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.write("{a: one}")

    watching.run(lambda: watching.write("a: ["), lambda: watching.write("{a: two}"))

    assert (watching.out / "config/a").read_text() == "two"
    assert f"error: {watching.manifest}:1: did not find" in capsys.readouterr().err


def test_a_volume_that_is_refused_later_keeps_its_files(
    watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.write("{a: one}")

    watching.run(lambda: watching.write(pod("", VOLUMES)))

    said = capsys.readouterr()
    assert (watching.out / "config/a").read_text() == "one"
    assert said.out.splitlines()[-1] == 'volume config: configmap "settings" not found'
    assert 'volume config would not be set up: configmap "settings" not found' in said.err


def test_standard_input_cannot_be_watched(tmp_path: Path) -> None:
    choice = PodChoice(
        (),
        ConnectionChoice({"namespace": ""}),
        files=Sources(paths=("-",)),
        selector="",
        all_namespaces=False,
    )

    with pytest.raises(click.UsageError, match="standard input does not change"):
        watch_manifests(choice, (), tmp_path, verbose=False)


def test_only_the_volumes_that_are_meant_are_read() -> None:
    whole = pod_with(
        {"envFrom": [{"secretRef": {"name": "database"}}]},
        imagePullSecrets=[{"name": "pull"}],
        volumes=[
            {"name": "config", "configMap": {"name": "settings"}},
            {"name": "keys", "secret": {"secretName": "keys"}},
            {"name": "scratch", "emptyDir": {}},
        ],
    )

    names = [
        [reference.name for reference in references_of(volumes_only(whole, chosen))]
        for chosen in ((), ("keys",))
    ]

    assert names == [["settings", "keys"], ["keys"]]
