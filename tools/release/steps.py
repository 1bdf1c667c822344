"""The steps of a release, in order; each says in a line what it did.

What is built comes from the tag, not from the working tree, so that anybody can build the same
bytes again: times are the tag's, versions and hashes are pinned.  Nothing leaves the machine: the
last lines say what to push and to upload.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tools.release.archive import build_archive
from tools.release.changelog import ChangelogError, released
from tools.release.commands import ReleaseError, run, say
from tools.release.manifests import homebrew_formula, krew_manifest

VERSION_FILE = "src/reflet/_version.py"
VERSIONED = (
    VERSION_FILE,
    "action.yml",
    "deploy/helm/reflet-node/Chart.yaml",
    "deploy/helm/sidecar/grafana.yaml",
    "deploy/helm/sidecar/jenkins.yaml",
    "deploy/helm/sidecar/kube-prometheus-stack.yaml",
    "deploy/helm/sidecar/loki.yaml",
    "deploy/kustomize/kustomization.yaml",
)
"""The files that name the version; tests/architecture checks that no other does."""

SIGNED_AS = "reflet-release"
SUMS = "SHA256SUMS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release of what is checked out in *repository*; files go to ``dist/VERSION`` there."""

    repository: Path
    version: str
    key: Path
    """The private SSH key that signs the tag and the checksums."""

    def make(self) -> Path:
        """Do all of it; the answer is the folder with the files."""
        self.check()
        self.write_version()
        self.tag()
        dist = self.build()
        self.sign(dist)
        return dist

    # Before

    def check(self) -> None:
        """Refuse what would be no release, before anything is changed."""
        if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", self.version):
            raise ReleaseError(f"{self.version!r} is no version: write VERSION=1.2.3 or 1.2.3rc1")
        if self._git("tag", "--list", f"v{self.version}"):
            raise ReleaseError(f"the tag v{self.version} is there already")
        if self._git("status", "--porcelain"):
            raise ReleaseError("there are changes that are not committed: commit or stash them")
        if not self.key.is_file():
            raise ReleaseError(f"{self.key} is no file: KEY=… names the SSH key that signs")

    def write_version(self) -> None:
        """Write the version where it is named, and the changelog's section; commit both."""
        before = self._version_in_tree()
        for name in VERSIONED:
            path = self.repository / name
            path.write_text(
                re.sub(rf"(?<![\d.]){re.escape(before)}(?![\d.])", self.version, path.read_text())
            )
        changelog = self.repository / "CHANGELOG.md"
        try:
            changelog.write_text(
                released(changelog.read_text(), self.version, datetime.now(UTC).date())
            )
        except ChangelogError as error:
            self._git("checkout", "--", ".")
            raise ReleaseError(str(error)) from error
        self._git("commit", "--quiet", "--all", "--message", f"release: {self.version}")
        say(f"wrote {self.version} into the changelog and {len(VERSIONED)} files")

    def tag(self) -> None:
        """Tag the commit, signed."""
        self._git(
            *("-c", "gpg.format=ssh", "-c", f"user.signingkey={self.key}"),
            *("tag", "--sign", f"v{self.version}", "--message", f"Reflet {self.version}"),
        )
        say(f"tagged v{self.version}, signed with {self.key.name}")

    # After

    def build(self) -> Path:
        """Build everything from the tag into ``dist/VERSION``, the same bytes each time."""
        if not self._git("tag", "--list", f"v{self.version}"):
            raise ReleaseError(f"there is no tag v{self.version}")
        dist = self.repository / "dist" / self.version
        shutil.rmtree(dist, ignore_errors=True)
        work = dist / "work"
        source = self._source(work)
        epoch = int(self._git("log", "-1", "--format=%ct", f"v{self.version}"))
        python = _environment(work / "venv", source)
        wheel, sdist = _packages(python, source, dist, epoch)
        for one, other in zip(
            (wheel, sdist), _packages(python, source, work / "again", epoch), strict=True
        ):
            if _sha256(one) != _sha256(other):
                raise ReleaseError(f"{one.name} differs from one build to the next")
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
        say(f"built {wheel.name} and {sdist.name}, twice the same")
        archive = build_archive(
            python, work, version=self.version, epoch=epoch, extra=[source / "LICENSE"]
        )
        archive = archive.rename(dist / archive.name)
        say(f"built {archive.name}: {archive.stat().st_size / 1e6:.1f} MB")
        self._write_sbom(python, dist / f"reflet-{self.version}.cdx.json")
        self._write_manifests(source, archive, sdist)
        shutil.rmtree(work)
        files = sorted(dist.iterdir())
        (dist / SUMS).write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files))
        say(f"wrote {SUMS} of {len(files)} files")
        return dist

    def sign(self, dist: Path) -> None:
        """Sign the checksums."""
        run("ssh-keygen", "-q", "-Y", "sign", "-f", self.key, "-n", SIGNED_AS, dist / SUMS)
        say(f"signed {SUMS}")

    def _source(self, work: Path) -> Path:
        source = work / f"reflet-{self.version}"
        work.mkdir(parents=True)
        packed = work / "source.tar"
        self._git("archive", "--output", str(packed), f"v{self.version}")
        with tarfile.open(packed) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # 3.11.2 has none
            tar.extractall(source)  # noqa: S202 - our own
        return source

    def _write_sbom(self, python: Path, path: Path) -> None:
        run(
            *(python, "-m", "cyclonedx_py", "requirements", "--output-reproducible"),
            *(
                "--output-file",
                path,
                path.parent / f"work/reflet-{self.version}/requirements/image.lock",
            ),
        )
        parts = len(json.loads(path.read_text())["components"])
        say(f"wrote {path.name}: the bill of materials, {parts} parts")

    def _write_manifests(self, source: Path, archive: Path, sdist: Path) -> None:
        project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
        home = project["urls"]["Source"]
        released_at = f"{home}/releases/download/v{self.version}"
        summary = "Show, explain and run the configuration that a pod gets"
        (archive.parent / "reflet.krew.yaml").write_text(
            krew_manifest(
                version=self.version,
                address=f"{released_at}/{archive.name}",
                sha256=_sha256(archive),
                summary=summary,
            )
        )
        (archive.parent / "reflet.rb").write_text(
            homebrew_formula(
                version=self.version,
                homepage=home,
                address=f"{released_at}/{sdist.name}",
                sha256=_sha256(sdist),
                summary=summary,
            )
        )
        say("wrote reflet.krew.yaml and reflet.rb")

    def _version_in_tree(self) -> str:
        found = re.search(r'__version__ = "(.+)"', (self.repository / VERSION_FILE).read_text())
        if found is None:
            raise ReleaseError(f"{VERSION_FILE} names no version")
        return found[1]

    def _git(self, *arguments: str) -> str:
        return run("git", "-C", self.repository, *arguments).strip()


def _packages(python: Path, source: Path, dist: Path, epoch: int) -> tuple[Path, Path]:
    run(
        *(python, "-m", "hatchling", "build", "--directory", dist),
        cwd=source,
        environment={"SOURCE_DATE_EPOCH": str(epoch)},
    )
    [wheel] = dist.glob("*.whl")
    [sdist] = dist.glob("*.tar.gz")
    return wheel, sdist


def _environment(folder: Path, source: Path) -> Path:
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    lock = source / "requirements/release.lock"
    install = (python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes")
    run(*install, "--requirement", lock)
    return python


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
