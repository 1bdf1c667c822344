"""The changelog's section Unreleased becomes that of a version.  Pure."""

from __future__ import annotations

import re
from datetime import date

UNRELEASED = "## [Unreleased]"


class ChangelogError(Exception):
    """The changelog cannot become that of this version; the message says what to do."""


def released(text: str, version: str, day: date) -> str:
    """The changelog with an empty section Unreleased above that of *version*."""
    if UNRELEASED not in text:
        raise ChangelogError(f"CHANGELOG.md has no line {UNRELEASED!r}")
    if f"## [{version}]" in text:
        raise ChangelogError(f"CHANGELOG.md has a section for {version} already")
    if not section(text, "Unreleased"):
        raise ChangelogError(
            "CHANGELOG.md says nothing under Unreleased: there is nothing to release"
        )
    return text.replace(UNRELEASED, f"{UNRELEASED}\n\n## [{version}] - {day.isoformat()}", 1)


def section(text: str, name: str) -> str:
    """What the section of a version says, without its heading; empty when there is none."""
    found = re.search(
        rf"^## \[{re.escape(name)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""
