"""What changes for processes: for people, for programs, and for a pull request.

Values of Secrets are masked: what is shown of one is its size, and a mark that is the same for
equal values of one run and says nothing else.
"""

from __future__ import annotations

import difflib
import hmac
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from reflet.cli.output.environment_output import NOT_KNOWN, origin_text
from reflet.cli.output.masking import mask
from reflet.cli.output.output import API_VERSION, clipped, counted, visible
from reflet.cli.output.palette import Meaning, paint
from reflet.cli.output.volume_files import mode_text
from reflet.insight.pod_diff import ContainerDiff, Item, ItemChange, PodDiff

MOST_LINES: Final = 12  # of a file's difference, unless more are asked for
MOST_NAMED: Final = 3  # changes in one sentence
WIDEST: Final = 60  # columns of a value in a line
ARROW: Final = "→"
SIGNS: Final[Mapping[str, Meaning]] = {"+": "good", "-": "wrong", "~": "caution"}

_MARKDOWN: Final = re.compile(r"[\\`*_{}\[\]<>#|@~!&]")


class DiffOutput:
    """Shows differences; all values of one run are marked alike."""

    def __init__(self, *, reveal: bool, verbose: bool = False) -> None:
        self._reveal = reveal
        self._verbose = verbose
        self._salt = secrets.token_bytes()

    # For people

    def lines(self, diffs: Sequence[PodDiff]) -> Iterator[str]:
        """Yield a report: what differs, with equal things as a number."""
        for diff in diffs:
            if not diff:
                continue
            yield paint(visible(f"{diff.title}: {_needs(diff)}"), "title")
            for container in diff.containers:
                if container:
                    yield from self._container(container)
            yield ""
        yield totals_text(diffs)

    def _container(self, diff: ContainerDiff) -> Iterator[str]:
        stays = (
            f"{counted(diff.equal_variables, 'variable')} and {counted(diff.equal_files, 'file')}"
        )
        only = ", only there now" if diff.is_new else ", no longer there" if diff.is_gone else ""
        yield visible(f"  container {diff.container}{only} ({stays} stay as they are)")
        for label, error in (("before", diff.error_before), ("after", diff.error_after)):
            if diff.error_before != diff.error_after and error:
                yield paint(visible(f"    {label}, it would not start: {error}"), "wrong")
        for change in diff.variables:
            yield self._line(change)
        for change in diff.files:
            yield self._line(change)
            yield from self._content(change)

    def _line(self, change: ItemChange) -> str:
        before, after = change.before, change.after
        source = "" if (known := after or before) is None else origin_text(known.origin)
        if before is None and after is not None:
            sign, value = "+", self.shown(after)
        elif after is None and before is not None:
            sign, value = "-", self.shown(before)
        else:
            sign, value = "~", self.values_text(change)
        line = paint(visible(f"    {sign} {change.name}  {value}"), SIGNS[sign])
        return line + paint(visible(f"  ({source})"), "dim")

    def values_text(self, change: ItemChange) -> str:
        """Return what a value was and what it becomes: ``info → debug``."""
        before, after = (
            "(not there)" if each is None else self.shown(each)
            for each in (change.before, change.after)
        )
        one, other = change.before, change.after
        if one is not None and other is not None and one.mode != other.mode:
            modes = f"{mode_text(one.mode or 0)} {ARROW} {mode_text(other.mode or 0)}"
            return modes if one.data == other.data else f"{modes}, {before} {ARROW} {after}"
        if before == after:
            return "changed"  # the lines of a text, of which there are as many
        return f"{before} {ARROW} {after}"

    def shown(self, item: Item) -> str:
        """Return a value on one line, or what stands for it."""
        if not item.known:
            return NOT_KNOWN
        if item.sensitive and not self._reveal:
            mark = hmac.digest(self._salt, item.data, "sha256").hex()[:6]
            return mask(len(item.data)).replace("›", f" #{mark}›")
        text = _text(item)
        if text is None:
            return f"‹{len(item.data)} bytes›"
        if item.mode is not None and "\n" in text:
            return counted(len(text.splitlines()), "line")
        return clipped(text.replace("\n", "⏎"), WIDEST) or "(empty)"

    def _content(self, change: ItemChange) -> Iterator[str]:
        """Yield how the text of a file changes, if it may be seen and has several lines."""
        texts = [None if each is None else _text(each) for each in (change.before, change.after)]
        before, after = texts
        if before is None or after is None or (change.sensitive and not self._reveal):
            return
        if before == after or "\n" not in before + after:
            return
        every = list(
            difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
        )[2:]
        kept = every if self._verbose else every[:MOST_LINES]
        yield from (paint(visible(f"        {line}"), SIGNS.get(line[:1])) for line in kept)
        if len(every) > len(kept):
            yield f"        … {counted(len(every) - len(kept), 'more line')}: -v shows them"

    # For a pull request

    def sentence(self, diff: PodDiff) -> str:
        """Return what changes, where, and what it takes: one sentence, for people."""
        if diff.is_new or diff.is_gone:
            return f"{diff.title} is {_needs(diff)}"
        changes = list(diff.changes)
        named = [f"{each.name} {self.values_text(each)}" for each in changes[:MOST_NAMED]]
        more = len(changes) - len(named)
        what = ", ".join(named) + (f" and {more} more" if more else "")
        return f"{what or 'what would keep it from starting'} in {diff.title}; {_needs(diff)}"

    def markdown(self, diffs: Sequence[PodDiff]) -> Iterator[str]:
        """Yield the text of a comment: sentences, and a table of everything folded below."""
        differing = [diff for diff in diffs if diff]
        yield "### What changes for processes"
        yield ""
        for diff in differing:
            yield f"- {_escaped(self.sentence(diff))}"
        if not differing:
            yield f"Nothing: {counted(len(diffs), 'workload')} compared."
            return
        yield ""
        yield f"<details><summary>{_escaped(totals_text(diffs))}</summary>"
        yield ""
        yield "| workload | container | what | before | after | from |"
        yield "|---|---|---|---|---|---|"
        for diff in differing:
            for container in diff.containers:
                for change in (*container.variables, *container.files):
                    known = change.after or change.before
                    cells = (
                        diff.title,
                        container.container,
                        change.name,
                        "" if change.before is None else self.shown(change.before),
                        "" if change.after is None else self.shown(change.after),
                        "" if known is None else origin_text(known.origin),
                    )
                    yield f"| {' | '.join(map(_escaped, cells))} |"
        yield ""
        yield "</details>"

    def github(self, diffs: Sequence[PodDiff]) -> Iterator[str]:
        """Yield an annotation of a workflow's run for each workload that differs."""
        for diff in diffs:
            if diff:
                # Nothing visible ends a line.
                text = visible(self.sentence(diff)).replace("%", "%25")
                yield f"::notice title=reflet diff::{text}"

    # For programs

    def document(self, diffs: Sequence[PodDiff], notes: Sequence[str]) -> dict[str, Any]:
        """Return the differences for programs."""
        return {
            "apiVersion": API_VERSION,
            "kind": "PodDiff",
            "differs": any(diffs),
            "workloads": [self._pod_document(diff) for diff in diffs],
            "notes": list(notes),
        }

    def _pod_document(self, diff: PodDiff) -> dict[str, Any]:
        return {
            "name": diff.title,
            "namespace": diff.namespace,
            "differs": bool(diff),
            "new": diff.is_new,
            "gone": diff.is_gone,
            "rolled": diff.is_rolled,
            "needsRestart": diff.needs_restart,
            "replicas": diff.replicas,
            "containers": [self._container_document(each) for each in diff.containers],
        }

    def _container_document(self, diff: ContainerDiff) -> dict[str, Any]:
        return {
            "container": diff.container,
            "variables": [self._change_document(each) for each in diff.variables],
            "files": [self._change_document(each) for each in diff.files],
            "equal": {"variables": diff.equal_variables, "files": diff.equal_files},
            "errors": {"before": diff.error_before or None, "after": diff.error_after or None},
        }

    def _change_document(self, change: ItemChange) -> dict[str, Any]:
        return {
            "name": change.name,
            "before": self._item_document(change.before),
            "after": self._item_document(change.after),
            "needsRestart": change.needs_restart,
        }

    def _item_document(self, item: Item | None) -> dict[str, Any] | None:
        if item is None:
            return None
        hidden = not item.known or (item.sensitive and not self._reveal)
        return {
            "value": None if hidden else _text(item),
            "shown": self.shown(item),
            "size": len(item.data) if item.known else None,
            "mode": None if item.mode is None else mode_text(item.mode),
            "sensitive": item.sensitive,
            "source": msgspec.to_builtins(item.origin),
        }


def totals_text(diffs: Sequence[PodDiff]) -> str:
    """Return how many differ."""
    number = sum(map(bool, diffs))
    if not number:
        return f"no difference: {counted(len(diffs), 'workload')} compared"
    return f"{number} of {counted(len(diffs), 'workload')} differ{'s' * (number == 1)}"


def _needs(diff: PodDiff) -> str:
    """Return what it takes until running pods have it."""
    if diff.is_new or diff.is_gone:
        return "new" if diff.is_new else "gone"
    if diff.is_rolled:
        return "its pods are replaced"
    if not diff.needs_restart:
        return "running pods follow by themselves"
    if diff.replicas is None:
        return "its pods need a restart"
    return f"{counted(diff.replicas, 'pod')} need{'s' * (diff.replicas == 1)} a restart"


def _text(item: Item) -> str | None:
    try:
        return item.data.decode()
    except UnicodeDecodeError:
        return None


def _escaped(text: str) -> str:
    """Return a text that means nothing to Markdown, and calls nobody."""
    return _MARKDOWN.sub(lambda found: f"&#{ord(found.group())};", visible(text))
