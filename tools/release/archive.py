"""The single-file archive: ``reflet`` with its own Python, for machines that have none.

PyInstaller's folder, not its one file: that unpacks itself at every start, which takes most of a
second and needs a temporary folder from which programs may run.
"""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

from tools.release.commands import run

PROGRAM = Path(__file__).with_name("program.py")
EXCLUDED = (
    "IPython",
    "_pytest",
    "pip",
    "pkg_resources",
    "pytest",
    "setuptools",
    "tkinter",
    "uvloop",
)


def build_archive(
    python: Path, folder: Path, *, version: str, epoch: int, extra: list[Path]
) -> Path:
    """Make ``reflet-VERSION-linux-amd64.tar.gz`` in *folder*.

    *python* is that of an environment with Reflet and requirements/release.lock; *extra* files,
    such as the licence, are put beside the program.
    """
    work = folder / "pyinstaller"
    run(
        *(python, "-m", "PyInstaller", "--noconfirm", "--onedir", "--strip", "--name", "reflet"),
        *("--log-level", "WARN", "--collect-all", "reflet"),
        *(word for name in EXCLUDED for word in ("--exclude-module", name)),
        *("--distpath", work / "dist", "--workpath", work / "build", "--specpath", work, PROGRAM),
        cwd=folder,
        environment={
            "PYTHONHASHSEED": "0",
            "SOURCE_DATE_EPOCH": str(epoch),
            "PYINSTALLER_CONFIG_DIR": str(work / "cache"),
        },
    )
    archive = folder / f"reflet-{version}-linux-amd64.tar.gz"
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        inside = f"reflet-{version}"
        for path in extra:
            _add(tar, path, f"{inside}/{path.name}", epoch)
        top = work / "dist/reflet"
        for path in sorted(top.rglob("*")):
            _add(tar, path, f"{inside}/{path.relative_to(top)}", epoch)
    return archive


def _add(tar: tarfile.TarFile, path: Path, name: str, epoch: int) -> None:
    """Add a file, link or folder with nothing in it of this machine or moment."""
    if path.is_dir() and not path.is_symlink():
        return  # folders are made by what is in them
    entry = tar.gettarinfo(path, name)
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = epoch
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    if entry.isreg():
        with path.open("rb") as content:
            tar.addfile(entry, content)
    else:
        tar.addfile(entry)
