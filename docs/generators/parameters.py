"""Tables of parameters and fields: name, type, default, and what each means.

What a parameter means is its item in the docstring's list (``- *name*: …``), or else the first
sentence that has its name as *name*; what a field means, the text below it or the comment behind
it.  What is the same everywhere is written once, in ``common_parameters``.  Options that are passed
on (``**options: Unpack[MirrorOptions]``) are shown one by one, where they are taken.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from docs.generators.common_parameters import EVERYWHERE, SAME_AS
from docs.generators.docstrings import listed
from docs.generators.rooms import Definition, Function, definition, text_of

_OPTIONS: Final = re.compile(r"Unpack\[(\w+)")
_SENTENCE: Final = re.compile(r"(?<=[.;:])\s+(?=[*A-Z`])")

Source = Callable[[ast.expr, str], str]


class Row(NamedTuple):
    """A parameter or a field."""

    name: str
    kind: str
    default: str
    meaning: str


def table(rows: list[Row], first: str) -> Iterator[str]:
    """The table; none where nothing says more than the signature."""
    if any(row.meaning for row in rows):
        yield from ("", f"| {first} | type | default | meaning |", "|---|---|---|---|")
        said: dict[str, str] = {}
        for row in rows:
            first_with = said.setdefault(row.meaning, row.name) if row.meaning else row.name
            text = row.meaning if first_with == row.name else f"see `{first_with}`"
            cells = (f"`{row.name}`", _code(row.kind), _code(row.default), text)
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def of_function(
    node: Function, docstrings: Sequence[str], module: str, source: Source
) -> list[Row]:
    """The parameters of a function, the options that it passes on included.

    A parameter means what the first of *docstrings* says that says anything about it.
    """
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    pairs = [*zip(plain, defaults, strict=True)]
    if given.vararg is not None:
        pairs.append((given.vararg, None))
    pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    passed_on = given.kwarg.annotation if given.kwarg else None
    options = _options(source(passed_on, module), module, source) if passed_on else []
    if given.kwarg is not None and not options:
        pairs.append((given.kwarg, None))
    rows = [
        _row(argument, default, docstrings, module, source)
        for argument, default in pairs
        if argument.arg not in {"self", "cls"} and not argument.arg.startswith("_")
    ]
    return rows + options


def _row(
    argument: ast.arg,
    default: ast.expr | None,
    docstrings: Sequence[str],
    module: str,
    source: Source,
) -> Row:
    kind = source(argument.annotation, module) if argument.annotation else ""
    said = (meaning(argument.arg, docstring) for docstring in docstrings)
    return Row(
        argument.arg,
        kind,
        source(default, module) if default is not None else "",
        next(filter(None, said), "") or EVERYWHERE.get((argument.arg, kind), ""),
    )


def of_class(node: ast.ClassDef, module: str, source: Source) -> list[Row]:
    """The public fields of a class."""
    rows = []
    are_options = any(source(base, module) == "TypedDict" for base in node.bases)
    for member, below in pairwise([*node.body, ast.Pass()]):
        match member:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                default = source(member.value, module) if member.value else ""
                kind = source(member.annotation, module)
                text = (
                    _text(below) or _behind(member, module) or _said_elsewhere(node, name, module)
                )
                if not text and are_options:
                    text = EVERYWHERE.get((name, kind), "")
                rows.append(Row(name, kind, default, text))
            case _:
                pass
    return rows


def meaning(name: str, docstring: str) -> str:
    """What the list of a docstring says about a parameter, or the first sentence about it."""
    if said := listed(docstring).get(name):
        return said
    prose = re.sub(r"::\n(\n| .*\n?)*", "\n", inspect.cleandoc(docstring) + "\n")
    for paragraph in prose.split("\n\n"):
        for sentence in _SENTENCE.split(" ".join(paragraph.split())):
            if f"*{name}*" in sentence:
                text = sentence.replace("``", "`").removesuffix(";").removesuffix(":")
                return text if text.endswith(".") else f"{text}."
    return ""


def _options(annotation: str, module: str, source: Source) -> list[Row]:
    found = _OPTIONS.match(annotation)
    named = definition(found[1], module) if found else None
    return list(inherited(named, source)) if named else []


def inherited(found: Definition, source: Source) -> Iterator[Row]:
    """The fields of a class, and of those that it inherits from."""
    node = found.nodes[0]
    if isinstance(node, ast.ClassDef):
        yield from of_class(node, found.module, source)
        for base in node.bases:
            above = definition(source(base, found.module).partition("[")[0], found.module)
            if above is not None:
                yield from inherited(above, source)


def _text(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.replace("``", "`").split())
        case _:
            return ""


def _said_elsewhere(node: ast.ClassDef, name: str, module: str) -> str:
    """What the docstring of a class says about a field, or that of the class it has options for."""
    said = meaning(name, ast.get_docstring(node) or "")
    for other in SAME_AS.get(node.name, ()):
        found = definition(other, module)
        if found is not None and isinstance(found.nodes[0], ast.ClassDef):
            said = said or meaning(name, ast.get_docstring(found.nodes[0]) or "")
    return said


def _behind(member: ast.AnnAssign, module: str) -> str:
    """The comment behind a field, as a sentence."""
    line = text_of(module).splitlines()[(member.end_lineno or member.lineno) - 1]
    comment = line.encode()[member.end_col_offset or 0 :].decode().strip()
    if not comment.startswith("#") or "noqa" in comment:
        return ""
    text = comment.lstrip("# ").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
