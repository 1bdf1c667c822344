"""Docstrings as Markdown.

Owns: the little of reStructuredText that our docstrings use: literal text in double backquotes,
and ``::`` before a block of it.  Lists and *emphasis* are the same in both.  A list of parameters
(``- *name*: …``) is not part of the text: it is shown as a table.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import deque
from collections.abc import Iterator
from typing import Final

_PARAMETERS: Final = re.compile(r"^- ((?:\*\w+\*(?:, )?)+): (.*(?:\n  .*)*)\n?", re.MULTILINE)


def markdown(docstring: str) -> str:
    """A docstring as Markdown, without its list of parameters."""
    text = _PARAMETERS.sub("", inspect.cleandoc(docstring) + "\n")
    return "\n".join(_converted(re.sub(r"\n{3,}", "\n\n", text).strip("\n").splitlines()))


def listed(docstring: str) -> dict[str, str]:
    """What the list of parameters of a docstring says about each."""
    said: dict[str, str] = {}
    for names, text in _PARAMETERS.findall(inspect.cleandoc(docstring)):
        words = " ".join(text.replace("``", "`").split()).removesuffix(".")
        for name in names.split(", "):
            said[name.strip("*")] = f"{words[:1].upper()}{words[1:]}."
    return said


def summary(docstring: str) -> str:
    """The first paragraph in one line, for a cell of a table."""
    first = inspect.cleandoc(docstring).partition("\n\n")[0]
    text = " ".join(first.replace("``", "`").replace("|", "\\|").split())
    return text.removesuffix("::").rstrip()


def _converted(lines: list[str]) -> Iterator[str]:
    rest = deque(lines)
    while rest:
        line = rest.popleft()
        if not line.endswith("::"):
            yield line.replace("``", "`")
            continue
        if line.strip() != "::":
            yield line.replace("``", "`").removesuffix("::").rstrip() + ":" * _needs_colon(line)
            yield ""
        block = _literal_block(rest)
        yield from (f"```{_language(block)}", *block.splitlines(), "```")
        if rest:
            yield ""


def _needs_colon(line: str) -> bool:
    return not line.removesuffix("::").rstrip().endswith((".", ":"))


def _literal_block(rest: deque[str]) -> str:
    """Take the indented lines that follow."""
    found: list[str] = []
    while rest and (not rest[0] or rest[0].startswith(" ")):
        found.append(rest.popleft())
    return textwrap.dedent("\n".join(found)).strip("\n")


def _language(block: str) -> str:
    """Pages' ``python`` blocks are run by tests; these are only to be read, so they are ``py``."""
    try:
        ast.parse(f"async def shown():\n{textwrap.indent(block, '    ')}")
    except SyntaxError:
        return "text"
    return "py"
