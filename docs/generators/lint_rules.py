"""The rules of ``reflet lint``, from the table that the checks obey.

Owns: the form of the list.  Each rule has a page of its own, written by hand.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from reflet.insight.lint.rules import RULES


def markdown() -> str:
    """List every rule with its severity and its page, relative to the folder ``reference``."""
    lines = ["| rule | name | severity | what it finds |", "|---|---|---|---|"]
    for rule in RULES:
        page = PurePosixPath(rule.page).relative_to("reference")
        remark = "" if rule.usual else " (only when asked for)"
        lines.append(
            f"| [{rule.id}]({page}) | `{rule.name}` | {rule.severity.value} "
            f"| {rule.summary}{remark} |"
        )
    return "\n".join(lines)
