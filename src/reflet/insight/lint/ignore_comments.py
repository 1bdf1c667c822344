"""Comments of YAML texts that say which findings to ignore, and on which line."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reflet.api.frozen import EMPTY

IGNORE: Final = "reflet.dev/ignore"
"""The annotation, and the word of the comment."""

EVERY_RULE: Final = frozenset({"ALL"})

Comments = Mapping[str, Mapping[int, frozenset[str]]]
"""The rules to ignore, by file and line, as ``ignored_lines`` finds them."""

_NAMES: Final = r"[\w-]+(?:\s*,\s*[\w-]+)*"
# Not compiled before a file has such a comment, which most have not.
_COMMENT: Final = rf"#\s*{re.escape(IGNORE)}(?![\w./-])(?:\s*:\s*({_NAMES}))?"
# As YAML counts them; str.splitlines() knows more.
_LINE_END: Final = r"\r\n|[\n\r\x85\u2028\u2029]"


def ignored_lines(text: str | bytes) -> Mapping[int, frozenset[str]]:
    """Return the rules that comments of a YAML text ignore, for each line that they are about.

    A comment behind something is about its own line, one that has a line for itself about the
    next line that is no comment.  Without rules it means all of them.  What stands inside a value
    is no comment.
    """
    if isinstance(text, bytes):
        if IGNORE.encode() not in text:
            return EMPTY
        text = text.decode(errors="replace")
    if IGNORE not in text:
        return EMPTY
    lines = re.split(_LINE_END, text)
    inside = _values(text)
    found: dict[int, frozenset[str]] = {}
    for index, line in enumerate(lines):
        for match in re.finditer(_COMMENT, line):
            column = match.start()
            if (column and not line[column - 1].isspace()) or inside((index, column)):
                continue
            about = index if line[:column].strip() else _next_content(lines, index)
            names = match[1]
            rules = frozenset(each.strip() for each in names.split(",")) if names else EVERY_RULE
            found[about + 1] = found.get(about + 1, frozenset()) | rules
            break
    return found


def _next_content(lines: Sequence[str], index: int) -> int:
    following = range(index + 1, len(lines))
    return next((each for each in following if not lines[each].lstrip().startswith("#")), index)


def _values(text: str) -> Callable[[tuple[int, int]], bool]:
    """Return who says whether a place, by line and column, is inside a text that is quoted."""
    import yaml  # noqa: PLC0415 - a parser for the few files that have such comments

    spans: list[tuple[tuple[int, int], tuple[int, int]]] = []
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            start, end = event.start_mark, event.end_mark
            if isinstance(event, yaml.ScalarEvent) and event.style and start and end:
                spans.append(((start.line, start.column), (end.line, end.column)))
    except yaml.YAMLError:
        pass  # who reads the file says so; what stands before the mistake is known
    return lambda place: any(start < place < end for start, end in spans)
