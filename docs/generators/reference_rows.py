"""The table of who names and who makes ConfigMaps and Secrets, from the data that commands obey.

Owns: the form of the lists.  The data is ``src/reflet/insight/data/references.json``.
"""

from __future__ import annotations

from reflet.insight.reference_table import Row, built_in


def references() -> str:
    """List every row of references: which kinds, where the name stands, when a change is seen."""
    lines = ["| project | kind | names a | at | change |", "|---|---|---|---|---|"]
    lines += (
        f"| {row.project} | {_kinds(row.group, row.kinds)} | {row.names} | {_where(row)} "
        f"| {row.change.value} |"
        for row in built_in().references
    )
    return "\n".join(lines)


def makers() -> str:
    """List every row of makers: which kinds, and what is made."""
    lines = ["| project | kind | makes a | of the name |", "|---|---|---|---|"]
    lines += (
        f"| {row.project} | {_kinds(row.group, row.kinds)} | {row.names} | {_where(row)} |"
        for row in built_in().makers
    )
    return "\n".join(lines)


def workloads() -> str:
    """List the kinds that are asked of a server because they hold pod templates."""
    lines = ["| project | kind |", "|---|---|"]
    lines += (
        f"| {each.project} | {_kinds(each.group, each.kinds)} |" for each in built_in().workloads
    )
    return "\n".join(lines)


def _kinds(group: str, kinds: tuple[str, ...]) -> str:
    if group == "*":
        return "any that is not Kubernetes' own"
    return f"{', '.join(kinds)}{f' of `{group}`' if group else ''}"


def _where(row: Row) -> str:
    places = ", ".join(f"`{place}`" for place in (*row.paths, *filter(None, (row.name,))))
    conditions = [
        f"unless `{row.unless}` is set" if row.unless else "",
        f"with {' or '.join(f'`{path}`' for path in row.when)}" if row.when else "",
        "in every namespace" if row.everywhere else "",
        f"in namespace {row.in_namespace}" if row.in_namespace else "",
    ]
    return ", ".join((places, *filter(None, conditions)))
