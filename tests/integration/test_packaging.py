"""What people install: a wheel and a source distribution that work outside the repository."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.story

REPOSITORY: Final = Path(__file__).parents[2]
INFO: Final = "dist-info"


def build(folder: Path, source: Path = REPOSITORY) -> dict[str, Path]:
    """Build both in a folder, with what is installed here."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    [sdist] = folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def elsewhere(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment with the wheel; dependencies come from this one's."""
    folder = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"),
            *("--no-index", "--no-deps", "--disable-pip-version-check", str(built["wheel"])),
        ],
        check=True,
    )
    [packages] = folder.glob("lib/python*/site-packages")
    # Only a path, so that the editable installation in there does not take effect.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


def ran(folder: Path, *command: str, at: Path) -> str:
    environment = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(at)}
    finished = subprocess.run(
        [folder / command[0], *command[1:]],
        cwd=at,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_readme_of_the_package_leads_to_the_documentation_and_to_no_file(
    built: dict[str, Path],
) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        [name] = [each for each in wheel.namelist() if each.endswith(f"{INFO}/METADATA")]
        metadata = email.message_from_bytes(wheel.read(name))
    text = metadata.get_payload()
    assert isinstance(text, str)

    links = re.findall(r"\]\(([^)]+)\)", text)

    assert [link for link in links if not link.startswith("https://")] == []
    assert "https://reflet.dev/how-to/find-out-why.html#who-uses-it" in links
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_wheel_has_exactly_the_files_of_the_package(built: dict[str, Path]) -> None:
    source = {
        str(path.relative_to(REPOSITORY / "src"))
        for path in (REPOSITORY / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert {name for name in names_in(built["wheel"]) if INFO not in name} == source
    assert {"reflet/py.typed", "reflet/apirules/data/schemas.json"} <= source


def test_a_wheel_built_from_the_source_distribution_is_the_same(
    built: dict[str, Path], tmp_path: Path
) -> None:
    with tarfile.open(built["sdist"]) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        archive.extractall(tmp_path)
    [unpacked] = tmp_path.glob("reflet-*")

    again = build(tmp_path / "dist", unpacked)

    assert names_in(again["wheel"]) == names_in(built["wheel"])


def test_the_source_distribution_has_the_documentation_and_none_that_was_built(
    built: dict[str, Path],
) -> None:
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"docs/index.md", "docs/conf.py", "LICENSE", "README.md", "CHANGELOG.md"} <= names
    assert [name for name in names if "_build" in name or "__pycache__" in name] == []
    assert [name for name in names if name.startswith("tests/")] == []


def test_the_metadata_say_what_it_is(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as archive:
        [path] = [name for name in archive.namelist() if name.endswith(f"{INFO}/METADATA")]
        metadata = email.message_from_bytes(archive.read(path))

    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-File"] == "LICENSE"
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert "# Reflet" in str(metadata.get_payload())


@pytest.mark.parametrize("program", [("reflet",), ("python", "-m", "reflet"), ("kubectl-reflet",)])
def test_it_runs_outside_the_repository(
    elsewhere: Path, program: tuple[str, ...], tmp_path: Path
) -> None:
    assert "Diagnose:" in ran(elsewhere, *program, "--help", at=tmp_path)
    assert ran(elsewhere, *program, "version", "--client", at=tmp_path).startswith("Reflet: ")


def test_what_runs_is_the_installed_package(elsewhere: Path, tmp_path: Path) -> None:
    place = ran(elsewhere, "python", "-c", "import reflet; print(reflet.__file__)", at=tmp_path)

    assert Path(place.strip()).is_relative_to(elsewhere.parent)


def test_the_development_server_finds_its_data(elsewhere: Path, tmp_path: Path) -> None:
    program = """
import asyncio
import reflet
from reflet.devserver.server import DevServer

async def main():
    async with DevServer(tls=False) as server:
        async with reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster:
            config_maps = cluster.resource("configmaps", namespace="default")
            await config_maps.create({"metadata": {"name": "settings"}, "data": {"color": "blue"}})
            print((await config_maps.get("settings")).data["color"])

asyncio.run(main())
"""
    assert ran(elsewhere, "python", "-c", program, at=tmp_path) == "blue\n"


def test_shells_and_kubectl_can_complete(elsewhere: Path, tmp_path: Path) -> None:
    assert "_REFLET_COMPLETE" in ran(elsewhere, "reflet", "completion", "bash", at=tmp_path)
    assert ran(elsewhere, "kubectl_complete-reflet", "versi", at=tmp_path).startswith("version\t")
