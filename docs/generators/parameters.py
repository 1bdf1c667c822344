"""Tables of parameters and fields: name, type, default, and what each means.

What a parameter means is the sentence of the docstring that has its name as *name*; what a field
means, the text below it or the comment behind it.  Options that are passed on
(``**options: Unpack[MirrorOptions]``) are shown one by one, where they are taken.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from docs.generators.rooms import Definition, Function, definition

_OPTIONS: Final = re.compile(r"Unpack\[(\w+)")
_SENTENCE: Final = re.compile(r"(?<=[.;:])\s+(?=[*A-Z`])")

Source = Callable[[ast.AST, str], str]


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


def of_function(node: Function, docstring: str, module: str, source: Source) -> list[Row]:
    """The parameters of a function, the options that it passes on included."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    pairs = [*zip(plain, defaults, strict=True)]
    pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    rows = [
        Row(
            argument.arg,
            source(argument.annotation, module) if argument.annotation else "",
            source(default, module) if default is not None else "",
            meaning(argument.arg, docstring),
        )
        for argument, default in pairs
        if argument.arg not in {"self", "cls"}
    ]
    if given.kwarg is not None and given.kwarg.annotation is not None:
        rows += _options(source(given.kwarg.annotation, module), module, source)
    return rows


def of_class(node: ast.ClassDef, module: str, source: Source) -> list[Row]:
    """The public fields of a class."""
    rows = []
    for member, below in pairwise([*node.body, ast.Pass()]):
        match member:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                default = source(member.value, module) if member.value else ""
                kind = source(member.annotation, module)
                rows.append(Row(name, kind, default, _text(below)))
            case _:
                pass
    return rows


def meaning(name: str, docstring: str) -> str:
    """The first sentence of a docstring that is about a parameter."""
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
    return list(_inherited(named, source)) if named else []


def _inherited(found: Definition, source: Source) -> Iterator[Row]:
    node = found.nodes[0]
    if isinstance(node, ast.ClassDef):
        yield from of_class(node, found.module, source)
        for base in node.bases:
            above = definition(source(base, found.module).partition("[")[0], found.module)
            if above is not None:
                yield from _inherited(above, source)


def _text(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.replace("``", "`").split())
        case _:
            return ""


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
