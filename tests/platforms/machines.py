"""Commands that run as on another system, each with all that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
PATIENCE: Final = 50.0  # seconds

# Without /proc, /dev/shm and /run, in a mount namespace; Linux still tells of processes at $0.
MAC: Final = """
mount --make-rprivate / && mount --bind /proc "$0" &&
mount --bind "$0.none" /dev/shm && mount -t tmpfs none /run && mount --bind "$0.none" /proc &&
exec "$@"
"""


class Machine:
    """A machine that is not Linux, by a Python of its own in *folder*.

    The imitation begins before anything else, in every Python that is started by this one.
    """

    def __init__(self, folder: Path, imitation: str) -> None:
        self.folder = folder
        self.python = folder / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        packages = next(folder.glob("venv/lib/python3*/site-packages"))
        (packages / "imitation.pth").write_text(
            f"{REPOSITORY}\n{REPOSITORY / 'src'}\n"
            f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
            f"import tests.platforms.imitations as imitations; imitations.{imitation}\n"
        )

    def wrapped(self, arguments: tuple[str | Path, ...]) -> list[str]:
        """The command that runs *arguments* there."""
        return [str(each) for each in arguments]

    def reflet(self, *arguments: str | Path) -> list[str]:
        """The command for ``reflet``."""
        return self.wrapped((self.python, "-m", "reflet", *arguments))

    def run(
        self, command: list[str], *, environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **(environ or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @contextmanager
    def running(
        self, command: list[str], *, environ: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Run a command until the block is left; what it says is to be read from ``stdout``."""
        with subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **(environ or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)


class Mac(Machine):
    """macOS, in a mount namespace."""

    def __init__(self, folder: Path) -> None:
        self._proc = folder / "proc"
        self._proc.mkdir()
        folder.joinpath("proc.none").mkdir()
        super().__init__(folder, f"imitate_macos({str(self._proc)!r})")

    def wrapped(self, arguments: tuple[str | Path, ...]) -> list[str]:
        """The command that runs *arguments* there."""
        command = super().wrapped(arguments)
        return ["unshare", "--mount", "sh", "-c", MAC, str(self._proc), *command]


def why_no_mac() -> str:
    """Why macOS cannot be imitated here, empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "imitating macOS takes Linux and root: it mounts"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no mount namespace can be had here"
