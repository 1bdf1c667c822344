"""``make audit``: known vulnerabilities of everything that is pinned, by pip-audit.

A finding ends it with exit code 1.  Advisories are a service on the network: where it cannot be
reached, or does not know a single package, as behind a mirror without advisories, one line says
that nothing was looked up, and the exit code is 0, so that a build without network still ends well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

LOCKS: Final = sorted((Path(__file__).parents[1] / "requirements").glob("*.lock"))
COMMAND: Final = (
    *(sys.executable, "-m", "pip_audit", "--disable-pip", "--format", "json"),
    *("--progress-spinner", "off", "--timeout", "10"),
)


def main() -> int:
    """Audit every lock file together, and say in a few lines what was found."""
    locks = [argument for lock in LOCKS for argument in ("--requirement", str(lock))]
    done = subprocess.run(  # noqa: S603 - our own words
        [*COMMAND, *locks], capture_output=True, text=True, check=False
    )
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        report = {"dependencies": []}
    code, lines = verdict(report)
    for line in lines:
        sys.stdout.write(f"audit: {line}\n")
    return code


def verdict(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the exit code and the lines for a report of pip-audit."""
    found = {
        (each["name"], each["version"], flaw["id"]): flaw
        for each in report["dependencies"]
        for flaw in each.get("vulns", ())
    }
    looked_up = {each["name"] for each in report["dependencies"] if "skip_reason" not in each}
    skipped = {each["name"] for each in report["dependencies"]} - looked_up
    if not looked_up:
        return 0, ["the service with advisories cannot be reached: nothing was looked up"]
    lines = [
        f"{name} {version} has {flaw}: {_remedy(found[name, version, flaw])}"
        for name, version, flaw in sorted(found)
    ]
    if skipped:
        lines.append(f"not looked up: {', '.join(sorted(skipped))}")
    if not found:
        lines.append(f"no known vulnerability in {len(looked_up)} packages")
    return int(bool(found)), lines


def _remedy(flaw: dict[str, Any]) -> str:
    fixed = flaw.get("fix_versions")
    return f"fixed in {', '.join(fixed)}; run make lock" if fixed else "no version fixes it yet"


if __name__ == "__main__":
    sys.exit(main())
