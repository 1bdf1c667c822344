"""The names that users import: adding one is a promise, taking one away breaks somebody.

``public_names.txt`` pins them, one a line.  What a page, an example or the README imports comes
from these rooms and from nowhere deeper.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

import reflet
from docs.generators.api_pages import promise
from docs.generators.rooms import (
    FRONT_PAGE,
    LAZY_ROOMS,
    ROOMS,
    definition,
    is_room_inside,
    names_of,
    tree_of,
)
from reflet._exports import lazy_exports

REPOSITORY: Final = Path(__file__).parents[2]
PINNED: Final = frozenset((Path(__file__).parent / "public_names.txt").read_text().split())
FENCED: Final = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMPORTS: Final = re.compile(r"^\s*(?:from|import)\s+(reflet[\w.]*)", re.MULTILINE)


def named_for_type_checkers(room: str) -> set[str]:
    """The names that the branch for type checkers imports."""
    return {
        alias.name
        for node in tree_of(room).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def named_at_run_time(room: str) -> set[str]:
    """The names that the table of homes gives."""
    return {
        name
        for call in ast.walk(tree_of(room))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "lazy_exports"
        for names in ast.literal_eval(call.args[1]).values()
        for name in names.split()
    }


def shown_code() -> Iterator[tuple[str, str]]:
    """Everything that a reader may copy, with where it is shown."""
    for page in (
        REPOSITORY / "README.md",
        REPOSITORY / "CONTRIBUTING.md",
        *sorted((REPOSITORY / "docs").rglob("*.md")),
    ):
        if "_build" not in page.parts:
            for block in FENCED.finditer(page.read_text()):
                yield str(page.relative_to(REPOSITORY)), block[1]
    for example in sorted((REPOSITORY / "examples").rglob("*.py")):
        yield str(example.relative_to(REPOSITORY)), example.read_text()


@pytest.mark.parametrize("room", ROOMS)
def test_the_public_names_of_a_room_are_exactly_these(room: str) -> None:
    pinned = {name for name in PINNED if name.rpartition(".")[0] == room}

    assert {f"{room}.{name}" for name in names_of(room)} == pinned


def test_nothing_is_pinned_for_a_room_that_is_not_public() -> None:
    assert {name.rpartition(".")[0] for name in PINNED} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_there_and_listed_by_dir(room: str) -> None:
    module = import_module(room)

    missing = [name for name in names_of(room) if not hasattr(module, name)]

    assert missing == []
    assert set(names_of(room)) <= set(dir(module))


@pytest.mark.parametrize("room", LAZY_ROOMS)
def test_type_checkers_the_running_program_and_dunder_all_agree(room: str) -> None:
    eager = {"__version__"} if room == FRONT_PAGE else set()

    assert named_for_type_checkers(room) | eager == set(names_of(room))
    assert named_at_run_time(room) | eager == set(names_of(room))


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_is_the_object_that_its_home_defines(room: str) -> None:
    module = import_module(room)
    for name in names_of(room):
        found = definition(name, room)
        if found is None:
            assert is_room_inside(f"{room}.{name}"), name
        else:
            assert getattr(module, name) is getattr(import_module(found.module), name)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_says_what_it_promises(room: str) -> None:
    silent = [
        name
        for name in names_of(room)
        if (found := definition(name, room)) is not None and not promise(found)
    ]

    assert silent == []


def test_a_name_that_is_not_there_is_refused_in_the_usual_words() -> None:
    with pytest.raises(AttributeError, match="module 'reflet' has no attribute 'Mirorr'"):
        reflet.Mirorr  # type: ignore[attr-defined]  # noqa: B018 - what must not work


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    get, names = lazy_exports("reflet.errors", {"reflet.api.options": "GetOptions"})
    errors = import_module("reflet.errors")
    monkeypatch.setattr(errors, "GetOptions", None, raising=False)

    assert get("GetOptions") is reflet.GetOptions
    assert vars(errors)["GetOptions"] is reflet.GetOptions
    assert "GetOptions" in names()


def test_no_page_and_no_example_imports_from_a_deep_module() -> None:
    found = [(place, room) for place, code in shown_code() for room in IMPORTS.findall(code)]

    assert [f"{place} imports {room}" for place, room in found if room not in ROOMS] == []
    assert len(found) > 30


def test_what_is_shown_imports_only_public_names() -> None:
    wrong = [
        f"{place}: {node.module}.{alias.name}"
        for place, code in shown_code()
        for node in ast.walk(ast.parse(code_that_parses(code)))
        if isinstance(node, ast.ImportFrom) and node.module in ROOMS
        for alias in node.names
        if alias.name not in names_of(str(node.module))
    ]

    assert wrong == []


def code_that_parses(code: str) -> str:
    """Code without what is not a statement, as signatures are in the reference."""
    try:
        ast.parse(code)
    except SyntaxError:
        return ""
    return code
