"""Files that are edited are read again; files that are half edited are told of."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.manifests.files import Sources
from reflet.podconfig.gather_files import fingerprint
from reflet.supervisor.configuration_sources import ConfigurationFiles
from reflet.supervisor.container_configuration import ContainerConfiguration
from tests.unit.supervisor.scenes import config_map, pod, resolved

SUBJECT = pod({"envFrom": [{"configMapRef": {"name": "settings"}}]})


class Scene:
    """A file whose text is the value of a variable; ``bad`` is no manifest."""

    def __init__(self, folder: Path, name: str = "file.yaml") -> None:
        self.file = folder / "file.yaml"
        self.file.write_text("1")
        self.said: list[str] = []
        self.told = asyncio.Event()
        self.reads = 0
        self.source = ConfigurationFiles(
            [str(self.file) if name != "-" else "-"], self._read, say=self._say
        )

    def _say(self, text: str) -> None:
        self.said.append(text)
        self.told.set()

    def _read(self) -> ContainerConfiguration:
        self.reads += 1
        text = self.file.read_text()
        if text == "bad":
            raise ConfigurationError("file.yaml:1: no manifest")
        return resolved(SUBJECT, config_map("settings", A=text))


def value(configuration: ContainerConfiguration) -> str:
    return configuration.environment.values["A"]


@pytest.mark.virtual_time
async def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    configurations = scene.source.configurations()
    first = value(await anext(configurations))

    scene.file.write_text("22")

    assert (first, value(await anext(configurations))) == ("1", "22")
    await configurations.aclose()  # type: ignore[attr-defined] # a generator behind its protocol


@pytest.mark.virtual_time
async def test_a_file_that_nobody_edits_is_read_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    configurations = scene.source.configurations()
    await anext(configurations)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(anext(configurations), 60)

    assert scene.reads == 1


@pytest.mark.virtual_time
async def test_a_mistake_is_told_and_the_next_edit_counts(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    configurations = scene.source.configurations()
    await anext(configurations)
    scene.file.write_text("bad")
    waiting = asyncio.ensure_future(anext(configurations))
    await scene.told.wait()

    scene.file.write_text("333")

    assert value(await waiting) == "333"
    assert scene.said == ["warning: file.yaml:1: no manifest; the process keeps what it has"]


async def test_the_first_mistake_is_the_callers(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.file.write_text("bad")

    with pytest.raises(ConfigurationError):
        await anext(scene.source.configurations())


async def test_standard_input_is_read_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path, name="-")

    values = [value(each) async for each in scene.source.configurations()]

    assert values == ["1"]


def test_a_folder_changes_with_any_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    before = fingerprint([str(tmp_path)])

    (tmp_path / "deep/new.yaml").write_text("x")

    assert fingerprint([str(tmp_path)]) != before


def test_a_file_that_is_away_for_a_moment_is_no_failure(tmp_path: Path) -> None:
    assert fingerprint([str(tmp_path / "gone")]) == frozenset()


def test_a_folder_that_goes_while_it_is_looked_at_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "deep/new.yaml"
    file.parent.mkdir()
    file.write_text("x")
    before = fingerprint([str(tmp_path)])
    scan = os.scandir

    def scan_late(path: str) -> object:
        if path == str(file.parent):
            file.unlink()
            file.parent.rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_late)

    assert fingerprint([str(tmp_path)]) != before


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no such file here")
def test_a_kustomization_that_cannot_be_read_just_now_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "kustomization.yaml"
    file.symlink_to("/proc/self/mem")  # its first bytes can be read by nobody
    away = fingerprint(Sources(kustomizations=(str(tmp_path),)))
    file.unlink()
    file.write_text("resources: []")

    assert fingerprint(Sources(kustomizations=(str(tmp_path),))) != away
