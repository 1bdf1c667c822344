"""``python -m tools.release VERSION --key KEY``, ``--dry-run``, ``--rebuild``: see RELEASING.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.release.commands import ReleaseError, run, say
from tools.release.steps import Release
from tools.release.trial import install_everywhere

HERE = Path(__file__).parents[2]
DRY_RUN = "99.0.0"


def main() -> int:
    """Make a release, or try all of it in a copy."""
    parser = argparse.ArgumentParser(prog="make release", description="Make a release.")
    parser.add_argument("version", nargs="?", default="")
    parser.add_argument("--key", type=Path, default=Path("~/.ssh/id_ed25519").expanduser())
    parser.add_argument("--dry-run", action="store_true", help="in a copy, with a key of its own")
    parser.add_argument("--rebuild", action="store_true", help="only build, from the tag")
    given = parser.parse_args()
    try:
        if given.dry_run:
            _try_out(given.version or DRY_RUN)
        elif given.rebuild:
            Release(repository=HERE, version=given.version, key=given.key).build()
        else:
            _release(given.version, given.key)
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    return 0


def _release(version: str, key: Path) -> None:
    dist = Release(repository=HERE, version=version, key=key).make()
    say(
        f"all of it is in {dist.relative_to(HERE)}; nothing was sent.  Next:\n"
        f"  git push origin main v{version}\n"
        f"  upload the files there to the release v{version}, and the wheel and sdist to the index"
    )


def _try_out(version: str) -> None:
    with tempfile.TemporaryDirectory(prefix="reflet-release-") as folder:
        copy, key = Path(folder, "copy"), Path(folder, "key")
        run("git", "clone", "--quiet", HERE, copy)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "dry run", "-f", key)
        for name, value in (("user.name", "dry run"), ("user.email", "dry-run@example.invalid")):
            run("git", "-C", copy, "config", name, value)
        dist = Release(repository=copy, version=version, key=key).make()
        install_everywhere(dist, Path(folder, "installs"), version=version, key=key)
    say("dry run: all steps work; nothing was kept")


if __name__ == "__main__":
    sys.exit(main())
