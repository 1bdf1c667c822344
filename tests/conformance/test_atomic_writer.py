"""The recorded atomic writer: paths, single writes, updates, sequences, and what was observed.

One recorded failure is mended on purpose: a folder that becomes a file, which the recorded
writer refuses for ever.
"""

from __future__ import annotations

import base64
import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from reflet.gotext.paths import clean
from reflet.resolution.origins import ValueOrigin
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.payload_paths import problem_with
from reflet.volumes.volume_errors import InvalidPath

RECORDED = json.loads((Path(__file__).parent / "data/atomic_writer.json").read_text())
VERSION = re.compile(r"\.\.\d{4}(_\d\d){5}\.\d+")

Payload = dict[str, dict[str, Any]]


def contents(payload: Payload) -> VolumeContents:
    files = {
        path: FileContent(
            data=in_bytes(file["data"]), mode=int(file["mode"], 8), origin=ValueOrigin()
        )
        for path, file in payload.items()
    }
    return VolumeContents(volume="v", kind="configMap", files=files)


def in_bytes(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else base64.b64decode(data["base64"])


def expected(payload: Payload) -> dict[str, tuple[int, bytes]]:
    return {
        clean(path): (int(file["mode"], 8), in_bytes(file["data"]))
        for path, file in payload.items()
    }


def visible(target: Path) -> dict[str, tuple[int, bytes]]:
    """Every file that can be reached by the names at the top."""
    found: dict[str, tuple[int, bytes]] = {}
    for top in target.iterdir():
        if top.name.startswith(".."):
            continue
        for path in [top, *top.rglob("*")] if top.is_dir() else [top]:
            if path.is_file():
                mode = stat.S_IMODE(path.stat().st_mode)
                found[str(path.relative_to(target))] = (mode, path.read_bytes())
    return found


def version(target: Path) -> str:
    return str((target / "..data").readlink())


def short(path: str) -> str:
    return path if len(path) < 20 else f"{path[:8]}…{len(path)}"


@pytest.mark.parametrize(
    "case", RECORDED["validatePath"], ids=lambda case: short(case["path"]) or "empty"
)
def test_recorded_path(case: dict[str, Any]) -> None:
    assert problem_with(case["path"]) == case["error"]
    assert clean(case["path"]) == case["clean"]


@pytest.mark.parametrize("case", RECORDED["pathsToRemove"], ids=lambda case: case["name"])
def test_recorded_paths_to_remove(case: dict[str, Any], tmp_path: Path) -> None:
    writer = AtomicWriter(tmp_path / "v")
    writer.write(contents({path: {"data": "", "mode": "0644"} for path in case["old"]}))
    before = all_paths(tmp_path / "v")
    writer.write(contents({path: {"data": "", "mode": "0644"} for path in case["new"]}))

    gone = before - all_paths(tmp_path / "v")

    assert sorted(gone) == case["expect"]


def all_paths(target: Path) -> set[str]:
    top = target / version(target)
    return {str(path.relative_to(top)) for path in top.rglob("*")}


@pytest.mark.parametrize("case", RECORDED["writeOnce"], ids=lambda case: case["name"])
def test_recorded_write(case: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "v"
    if not case["valid"]:
        with pytest.raises(InvalidPath):
            AtomicWriter(target).write(contents(case["payload"]))
        assert not target.exists()
        return

    AtomicWriter(target).write(contents(case["payload"]))

    assert visible(target) == expected(case["payload"])


@pytest.mark.parametrize("case", RECORDED["update"], ids=lambda case: case["name"])
def test_recorded_update(case: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "v"
    AtomicWriter(target).write(contents(case["first"]))
    before = version(target)

    rewrites = AtomicWriter(target).write(contents(case["next"]))

    assert (rewrites, version(target) != before) == (case["rewrites"],) * 2
    assert visible(target) == expected(case["next"])


@pytest.mark.parametrize("case", RECORDED["sequences"], ids=lambda case: case["name"])
def test_recorded_sequence(case: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "v"
    seen = []
    for payload in case["payloads"]:
        AtomicWriter(target).write(contents(payload))
        seen.append(visible(target))

    assert seen == [expected(payload) for payload in case["payloads"]]


MENDED = {"dir becomes file"}


def top_of(target: Path) -> dict[str, str]:
    """The names at the top, as they are recorded."""
    found: dict[str, str] = {}
    for path in target.iterdir():
        if path.is_symlink():
            text = str(path.readlink())
            found[path.name] = "-> <ts>" if VERSION.fullmatch(text) else f"-> {text}"
        elif VERSION.fullmatch(path.name):
            found["<tsdir>"] = f"dir {stat.S_IMODE(path.stat().st_mode):o}"
        else:
            found[path.name] = "file"
    return found


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDED["observed"] if case["name"] not in MENDED],
    ids=lambda case: case["name"],
)
def test_recorded_observation(case: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "v"
    if "before" in case:
        target.mkdir()
        (target / "a").write_text("user")
    before = ""
    for payload, step in zip(case["payloads"], case["steps"], strict=True):
        written = AtomicWriter(target).write(contents(payload))

        now = version(target)
        versions = [path for path in target.iterdir() if VERSION.fullmatch(path.name)]
        files = {
            path: f"{file[0]:o} {file[1].decode()}" for path, file in below(target / now).items()
        }
        assert top_of(target) == step["top"]
        assert files == step["files"]
        assert (now != before, len(versions)) == (step["tsDirChanged"], step["tsDirCount"])
        # Rights are given when, and only when, there is a new version.
        assert written == bool(step["setPermsCalls"])
        before = now


def below(top: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(top)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in top.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDED["observed"] if case["name"] in MENDED],
    ids=lambda case: case["name"],
)
def test_recorded_failure_is_mended(case: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "v"
    for payload in case["payloads"]:
        AtomicWriter(target).write(contents(payload))

    assert case["steps"][-1]["error"]
    assert visible(target) == expected(case["payloads"][-1])


def test_every_part_of_the_record_is_read() -> None:
    read = {"validatePath", "pathsToRemove", "writeOnce", "update", "sequences", "observed"}

    assert set(RECORDED) - {"source", "note"} == read
