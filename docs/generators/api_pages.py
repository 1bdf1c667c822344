"""The API reference: every name of a public room, with signature, promise, fields and methods.

Owns: the form of it, plain Markdown that reads well in the repository.  Must not know any name:
``rooms`` finds them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from docs.generators import docstrings, parameters
from docs.generators.common_parameters import SAME_AS
from docs.generators.rooms import (
    FRONT_PAGE,
    ROOMS,
    Assignment,
    Definition,
    Function,
    definition,
    imports_of,
    is_room_inside,
    names_of,
    page_of,
    text_of,
)

WIDTH: Final = 96  # columns of a signature


def room(name: str) -> str:
    """List every name of a room, and document those that no other page does."""
    lines = [f"```py\nfrom {name} import {_shortest_choice(name)}\n```", "", *_table(name)]
    for public in names_of(name):
        found = _found(public, name)
        if page_of(public, name) == ROOMS[name]:
            lines += ["", _heading(public), "", *_section(found)]
    return "\n".join(lines)


def front_page() -> str:
    """List every name that ``import reflet`` gives, and document what has no other page."""
    lines = [*_rooms(), "", *_table(FRONT_PAGE)]
    for public in names_of(FRONT_PAGE):
        found = definition(public, FRONT_PAGE)
        if found is not None and page_of(public, FRONT_PAGE) == ROOMS[FRONT_PAGE]:
            lines += ["", _heading(public), "", *_section(found)]
    return "\n".join(lines)


def _heading(name: str) -> str:
    # Underscores around a word would make it bold.
    return f"### `{name}`" if name.startswith("_") else f"### {name}"


def promise(found: Definition) -> str:
    """What a name promises: its docstring, or the text that stands below or beside a constant."""
    for node in reversed(found.nodes):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if docstring := ast.get_docstring(node):
                return docstring
        elif text := _constant_promise(node, found.module):
            return text
    return ""


def anchor(heading: str) -> str:
    """The link to a heading, as code hosts and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _shortest_choice(name: str) -> str:
    chosen = [public for public in names_of(name) if public[0].isupper()] or names_of(name)
    return min(chosen, key=lambda public: (public.isupper(), len(public), public))


def _found(name: str, module: str) -> Definition:
    found = definition(name, module)
    if found is None:
        raise LookupError(f"{module} gives {name}, but nothing in its imports defines it")
    return found


def _table(name: str) -> Iterator[str]:
    yield from ("| name | what it is |", "|---|---|")
    for public in names_of(name):
        if (found := definition(public, name)) is not None:
            target = f"#{anchor(public)}"
            if (page := page_of(public, name)) != ROOMS[name]:
                target = f"{_relative(page)}{target}"
            yield f"| [`{public}`]({target}) | {docstrings.summary(promise(found))} |"


def _rooms() -> Iterator[str]:
    yield from ("| package | what it is for |", "|---|---|")
    for name in names_of(FRONT_PAGE):
        if is_room_inside(f"{FRONT_PAGE}.{name}"):
            yield f"| [`{FRONT_PAGE}.{name}`]({_link_to_room(name)}) | {_of_module(name)} |"


def _link_to_room(name: str) -> str:
    full = f"{FRONT_PAGE}.{name}"
    page = ROOMS.get(full) or next(page for other, page in ROOMS.items() if full in other)
    return _relative(page)


def _relative(page: str) -> str:
    """A page of docs/reference as seen from docs/reference/api."""
    return page.removeprefix("api/") if page.startswith("api/") else f"../{page}"


def _of_module(name: str) -> str:
    docstring = ast.get_docstring(ast.parse(text_of(f"{FRONT_PAGE}.{name}"))) or ""
    return docstrings.summary(docstring)


def _section(found: Definition) -> Iterator[str]:
    yield from ("```py", *_signature(found), "```", "")
    yield docstrings.markdown(promise(found))
    if isinstance(found.nodes[0], ast.ClassDef):
        yield from _of_class(found)
        for name, overloads, module in _methods(found):
            yield from ("", f"#### {found.name}.{name}", "", "```py")
            for overload in _shown(overloads):
                yield from _function(overload, module)
            text = _docstring_of(overloads)
            yield from ("```", "", docstrings.markdown(text))
            yield from _of_function(overloads, said_of_method(found, name), module)
    else:
        functions = [each for each in found.nodes if isinstance(each, Function)]
        yield from _of_function(functions, said_of_function(found), found.module)
    yield from ("", f"*Defined in `{found.module.replace('.', '/')}.py`.*")


def _of_class(found: Definition) -> Iterator[str]:
    """The fields of a class, and the parameters of its constructor."""
    yield from parameters.table(fields_of(found), "field")
    for start, module in start_of(found):
        yield from _of_function([start], said_of_start(found), module)


def fields_of(found: Definition) -> list[parameters.Row]:
    """The public fields of a class, those of the private ones that it is made of included."""
    return [
        row
        for owner in _lineage(found)
        if isinstance(node := owner.nodes[0], ast.ClassDef)
        for row in parameters.of_class(node, owner.module, _source)
    ]


def parameters_of(found: Definition) -> Iterator[tuple[str, list[parameters.Row]]]:
    """Everything that can be called of a name: how it is called, and its parameters."""
    functions = [each for each in found.nodes if isinstance(each, Function)]
    for function in functions[-1:]:
        said = said_of_function(found)
        yield found.name, parameters.of_function(function, said, found.module, _source)
    for start, module in start_of(found):
        yield found.name, parameters.of_function(start, said_of_start(found), module, _source)
    for name, overloads, module in _methods(found):
        said = said_of_method(found, name)
        rows = parameters.of_function(overloads[-1], said, module, _source)
        yield f"{found.name}.{name}", rows


def start_of(found: Definition) -> list[tuple[Function, str]]:
    """The constructor of a class and its module, that of a private class included; or nothing."""
    starts = [
        (member, owner.module)
        for owner in _lineage(found)
        for member in getattr(owner.nodes[0], "body", ())
        if isinstance(member, Function) and member.name == "__init__"
    ]
    return starts[-1:]


def _of_function(overloads: list[Function], said: list[str], module: str) -> Iterator[str]:
    """The parameters of a function; of an overloaded one, those of the form that does it."""
    if overloads:
        rows = parameters.of_function(overloads[-1], said, module, _source)
        yield from parameters.table(rows, "parameter")


def said_of_function(found: Definition) -> list[str]:
    """The docstrings that say what the parameters of a function are."""
    return [promise(found), *(_said_by(other) for other in _counterparts(found))]


def said_of_start(found: Definition) -> list[str]:
    """The docstrings that say what the parameters of a constructor are."""
    own = [promise(owner) for owner in reversed(_lineage(found))]
    return [*own, *(_said_by(other) for other in _counterparts(found))]


def said_of_method(found: Definition, name: str) -> list[str]:
    """The docstrings that say what the parameters of a method are.

    Its own, what the class says of all methods, and those of the method that it stands for.
    """
    said = []
    for owner in (found, *_counterparts(found)):
        named = {own: each for own, each, _ in _methods(owner)}
        said += [_docstring_of(named.get(name, [])), _said_of_all(owner)]
    others = [_named(each, found.module) for each in SAME_AS.get(f"{found.name}.{name}", ())]
    return [*said, *(_said_by(other) for other in others if other is not None)]


def _said_of_all(found: Definition) -> str:
    """The class's list of parameters, without those of the constructor."""
    of_start = {
        argument.arg
        for start, _ in start_of(found)
        for argument in (*start.args.args, *start.args.kwonlyargs)
    }
    lists = [docstrings.listed(promise(owner)) for owner in _lineage(found)]
    items = {name: text for each in lists for name, text in each.items()}
    return "\n".join(f"- *{name}*: {text}" for name, text in items.items() if name not in of_start)


def _counterparts(found: Definition) -> list[Definition]:
    """What a name stands for: the class it inherits from, or does the same as."""
    named = SAME_AS.get(found.name, ())
    if isinstance(found.nodes[0], ast.ClassDef):
        named += tuple(
            _source(base, found.module).partition("[")[0] for base in found.nodes[0].bases
        )
    others = [_named(name, found.module) for name in named]
    return [other for other in others if other is not None and other != found]


def _named(name: str, module: str) -> Definition | None:
    home = name.rpartition(".")[0] if name.startswith(f"{FRONT_PAGE}.") else module
    return definition(name.rsplit(".", maxsplit=1)[-1], home)


def _said_by(found: Definition) -> str:
    """The docstring of a name, and what stands below its fields."""
    rows = parameters.inherited(found, _source) if found.nodes else ()
    items = [f"- *{row.name}*: {row.meaning}" for row in rows if row.meaning]
    return "\n\n".join([promise(found), "\n".join(items)])


def _docstring_of(members: list[Function]) -> str:
    return next((text for member in members if (text := ast.get_docstring(member))), "")


def _signature(found: Definition) -> Iterator[str]:
    for function in _shown([each for each in found.nodes if isinstance(each, Function)]):
        yield from _function(function, found.module)
    for node in found.nodes:
        if isinstance(node, ast.ClassDef):
            yield from _class(node, found)
        elif isinstance(node, Assignment):
            yield _source(node, found.module)


def _class(node: ast.ClassDef, found: Definition) -> Iterator[str]:
    bases = [_source(base, found.module) for base in node.bases]
    shown = [base for base in bases if not base.startswith("_")]
    head = f"class {node.name}{'(' + ', '.join(shown) + ')' if shown else ''}"
    body = [
        line
        for owner in _lineage(found)
        for line in _fields(owner.nodes[0], owner.module)
        if isinstance(owner.nodes[0], ast.ClassDef)
    ]
    yield f"{head}:" if body else head
    yield from (f"    {line}" for line in body)
    for start, module in start_of(found):
        yield from ("", *_call(node.name, start.args, "", module))


def _lineage(found: Definition) -> list[Definition]:
    """The private classes that a class is made of, the first before the others, then itself."""
    node = found.nodes[0]
    if not isinstance(node, ast.ClassDef):
        return []
    above: list[Definition] = []
    for base in node.bases:
        name = _source(base, found.module).partition("[")[0]
        inherited = definition(name, found.module) if _is_ours(name, found.module) else None
        if inherited is not None and not _has_a_page(inherited):
            above += [each for each in _lineage(inherited) if each not in above]
    return [*above, found]


def _is_ours(name: str, module: str) -> bool:
    return name in imports_of(module) or definition(name, module) is not None


def _has_a_page(found: Definition) -> bool:
    return any(
        found.name in names_of(name) and definition(found.name, name) == found for name in ROOMS
    )


def _fields(node: ast.AST, module: str) -> Iterator[str]:
    """The public fields of a class with the remarks beside them, and what ``__init__`` sets."""
    if not isinstance(node, ast.ClassDef):
        return
    for member in node.body:
        match member:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])
            ) if not name.startswith("_"):
                yield _source(member, module) + _remark(member, module)
            case ast.FunctionDef(name="__init__"):
                yield from _attributes(member, module)
            case _:
                pass


def _attributes(start: ast.FunctionDef, module: str) -> Iterator[str]:
    """What a constructor sets for everybody to read."""
    given = {
        argument.arg: _source(argument.annotation, module)
        for argument in (*start.args.args, *start.args.kwonlyargs)
        if argument.annotation is not None
    }
    for node in ast.walk(start):
        match node:
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id="self"), attr=name), annotation=kind
            ) if not name.startswith("_"):
                yield f"{name}: {_source(kind, module)}"
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Name(id=value),
            ) if not name.startswith("_") and value in given:
                yield f"{name}: {given[value]}"
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(func=ast.Name(id=kind_name)),
            ) if not name.startswith("_") and kind_name[0].isupper():
                yield f"{name}: {kind_name}"
            case _:
                pass


def _methods(found: Definition) -> Iterator[tuple[str, list[Function], str]]:
    """The public methods of a class and of the private ones it is made of, overloads together."""
    members: dict[str, tuple[list[Function], str]] = {}
    for owner in _lineage(found):
        own: dict[str, list[Function]] = {}
        node = owner.nodes[0]
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, Function) and not member.name.startswith("_"):
                own.setdefault(member.name, []).append(member)
        for name, overloads in own.items():
            if not _docstring_of(overloads):
                continue  # the promise stands where it is first made
            members[name] = (overloads, owner.module)
    for name, (overloads, module) in members.items():
        yield name, overloads, module


def _shown(overloads: list[Function]) -> list[Function]:
    """The forms that callers may use: of an overloaded function, all but the one that does it."""
    return [each for each in overloads if "overload" in _decorators(each)] or overloads[:1]


def _decorators(node: Function) -> list[str]:
    return [ast.unparse(each).split(".")[-1] for each in node.decorator_list]


def _function(node: Function, module: str) -> Iterator[str]:
    """The head of a function, in one line where it fits, else a line for each parameter."""
    marks = [f"@{name}" for name in _decorators(node) if name in {"classmethod", "staticmethod"}]
    if {"property", "cached_property"} & {*_decorators(node)}:
        yield f"{node.name}: {_source(node.returns, module) if node.returns else 'Any'}"
        return
    yield from marks
    verb = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {_source(node.returns, module)}" if node.returns else ""
    yield from _call(f"{verb} {node.name}", node.args, returns, module)


def _call(head: str, arguments: ast.arguments, returns: str, module: str) -> Iterator[str]:
    parameters = list(_parameters(arguments, module))
    line = f"{head}({', '.join(parameters)}){returns}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{head}("
    yield from (f"    {parameter}," for parameter in parameters)
    yield f"){returns}"


def _parameters(arguments: ast.arguments, module: str) -> Iterator[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    for position, (argument, default) in enumerate(zip(plain, defaults, strict=True), start=1):
        if argument.arg not in {"self", "cls"}:
            yield _parameter(argument, default, module)
        if position == len(arguments.posonlyargs) and [argument.arg] != ["self"]:
            yield "/"
    if arguments.vararg is not None:
        yield f"*{_parameter(arguments.vararg, None, module)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default, module)
    if arguments.kwarg is not None:
        yield f"**{_parameter(arguments.kwarg, None, module)}"


def _parameter(argument: ast.arg, default: ast.expr | None, module: str) -> str:
    kind = f": {_source(argument.annotation, module)}" if argument.annotation else ""
    if default is None:
        return f"{argument.arg}{kind}"
    return f"{argument.arg}{kind}{' = ' if kind else '='}{_source(default, module)}"


def _source(node: ast.expr | ast.stmt, module: str) -> str:
    """The text of a node as it stands in its file, in one line."""
    # ast.get_source_segment would look at every letter of the file, for each of thousands of nodes.
    lines = text_of(module).encode().split(b"\n")[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    joined = re.sub(r"\s+", " ", b"\n".join(lines).decode())
    return re.sub(r",? ([)\]}])", r"\1", re.sub(r"([(\[{]) ", r"\1", joined))


def _remark(node: Assignment, module: str) -> str:
    """The comment behind a field."""
    line = text_of(module).splitlines()[(node.end_lineno or node.lineno) - 1]
    comment = line.encode()[node.end_col_offset or 0 :].decode().strip()
    return f"  {comment}" if comment.startswith("#") and "noqa" not in comment else ""


def _constant_promise(node: Assignment, module: str) -> str:
    """The string below a constant, or the comment behind or above it."""
    body = ast.parse(text_of(module)).body
    for each, below in pairwise(body):
        if each.lineno == node.lineno and isinstance(below, ast.Expr):
            value = below.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    if behind := _remark(node, module):
        return _sentence(behind.strip().lstrip("# "))
    above: list[str] = []
    for line in reversed(text_of(module).splitlines()[: node.lineno - 1]):
        if not line.startswith("#"):
            break
        above.insert(0, line.lstrip("# "))
    return " ".join(above)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
