"""The public rooms: the packages and modules that programs import from, and their names.

Owns: the list of rooms, and where a public name is defined.  Read from the source text alone, so
that nothing has to be imported, and the answer is the same on every version of Python.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

SOURCE: Final = Path(__file__).parents[2] / "src"

FRONT_PAGE: Final = "reflet"

# Each public room, and the page of docs/reference that documents it.
ROOMS: Final = {
    FRONT_PAGE: "api/reflet.md",
    "reflet.errors": "errors.md",
    "reflet.adapters.asyncio_client": "api/adapters.md",
    "reflet.adapters.lightkube_client": "api/adapters.md",
    "reflet.adapters.official": "api/adapters.md",
    "reflet.adapters.prometheus": "api/adapters.md",
    "reflet.adapters.pydantic_models": "api/adapters.md",
    "reflet.api": "api/vocabulary.md",
    "reflet.blocking": "api/blocking.md",
    "reflet.client": "api/client.md",
    "reflet.controllers": "api/controllers.md",
    "reflet.cri": "api/pleg.md",
    "reflet.devserver": "api/testing.md",
    "reflet.informer": "api/informers.md",
    "reflet.managers": "api/managers.md",
    "reflet.play": "api/testing.md",
    "reflet.pleg": "api/pleg.md",
    "reflet.podconfig": "api/podconfig.md",
    "reflet.pods": "api/managers.md",
    "reflet.resolution": "api/resolution.md",
    "reflet.resolution.origins": "api/resolution.md",
    "reflet.resolution.problems": "api/resolution.md",
    "reflet.runtime": "api/informers.md",
    "reflet.store": "api/informers.md",
    "reflet.testing": "api/testing.md",
    "reflet.transport": "api/client.md",
    "reflet.volumes": "api/volumes.md",
}

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Assignment: TypeAlias = ast.Assign | ast.AnnAssign
Node: TypeAlias = ast.ClassDef | Function | Assignment


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name is defined: the module, and its statements, several for overloads."""

    name: str
    module: str
    nodes: tuple[Node, ...]


def file_of(module: str) -> Path:
    """The file of a module or package."""
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def is_room_inside(name: str) -> bool:
    """Whether a dotted name is a package or module of ours."""
    return file_of(name).is_file()


@cache
def text_of(module: str) -> str:
    """The source of a module."""
    return file_of(module).read_text()


@cache
def tree_of(module: str) -> ast.Module:
    """The source of a module, parsed."""
    return ast.parse(text_of(module))


@cache
def imports_of(module: str) -> dict[str, str]:
    """From each name that a module imports from ours, deferred ones too, to its home."""
    return {
        alias.asname or alias.name: str(node.module)
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "reflet"
        for alias in node.names
    }


@cache
def names_of(room: str) -> tuple[str, ...]:
    """The public names of a room: its ``__all__``, or a module's classes and functions."""
    for node in tree_of(room).body:
        if isinstance(node, ast.Assign) and "__all__" in defined_by(node):
            return tuple(sorted(ast.literal_eval(node.value)))
    return tuple(
        sorted(
            node.name
            for node in tree_of(room).body
            if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_")
        )
    )


def defined_by(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case _:
            return []


def definition(name: str, module: str) -> Definition | None:
    """Where a name that a module has is defined, through whatever imports it."""
    nodes = tuple(
        node for node in tree_of(module).body if isinstance(node, Node) and name in defined_by(node)
    )
    if nodes:
        return Definition(name, module, nodes)
    home = imports_of(module).get(name)
    return None if home is None or home == module else definition(name, home)


def page_of(name: str, room: str) -> str:
    """The page that documents a name of a room: the one of the room that defines it.

    For a name of the front page that is any other room that has it.
    """
    found = definition(name, room)
    if found is None:
        return ROOMS[room]
    others = [
        other for other in ROOMS if other not in (room, FRONT_PAGE) and found == _seen(name, other)
    ]
    homes = [other for other in others if found.module.startswith(f"{other}.")]
    return ROOMS[next(iter(homes or (others if room == FRONT_PAGE else [])), room)]


def _seen(name: str, room: str) -> Definition | None:
    return definition(name, room) if name in names_of(room) else None


# The rooms that import what they give when it is first asked for.
LAZY_ROOMS: Final = tuple(room for room in ROOMS if "lazy_exports" in text_of(room))
