"""The pages that say where things are: each file that they name exists and defines the symbol.

The picture of the layers is one: in docs/explanation/architecture.md, in CONTRIBUTING.md and in
the contract of pyproject.toml.  A package whose docstring lists modules names all of them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]
SOURCE: Final = REPOSITORY / "src/reflet"
EXPLANATION: Final = REPOSITORY / "docs/explanation"

# Page, and how many rows it has at least.
MAPS: Final = {"where-to-look.md": 60, "glossary.md": 50}
ROW: Final = re.compile(r"^\| (.+) \| `([\w/]+\.py)` \| `([\w.]+)` \|$", re.MULTILINE)

LISTED: Final = re.compile(r"^- ((?:``\w+``(?:, )?)+:)", re.MULTILINE)

PICTURE: Final = re.compile(r"^```\n(cli  .*?)^```$", re.MULTILINE | re.DOTALL)


def rows(page: str) -> list[tuple[str, str, str]]:
    """What each row is about, the file and the symbol."""
    return ROW.findall((EXPLANATION / page).read_text())


def lines_of_tables(page: str) -> int:
    """How many rows the tables of a page have, headings included."""
    return sum(line.startswith("| ") for line in (EXPLANATION / page).read_text().splitlines())


@cache
def symbols_of(file: str) -> frozenset[str]:
    """Everything that a file defines, methods with their class before them."""
    path = SOURCE / file
    return _defined(ast.parse(path.read_text()), "") if path.is_file() else frozenset()


def _defined(parent: ast.Module | ast.ClassDef, owner: str) -> frozenset[str]:
    found: set[str] = set()
    for node in parent.body:
        match node:
            case ast.ClassDef(name=name):
                found |= {f"{owner}{name}", *_defined(node, f"{owner}{name}.")}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(f"{owner}{name}")
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found.add(f"{owner}{name}")
            case _:
                pass
    return frozenset(found)


def layers_of_the_contract() -> list[str]:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return list(layers)


def layers_of_the_picture(page: Path) -> list[str]:
    """The layers as a page draws them: rooms, two spaces or more, and what they are."""
    [picture] = PICTURE.findall(page.read_text())
    return [re.split(r" {2,}", line)[0].replace("│", "|") for line in picture.splitlines()]


@pytest.mark.parametrize("page", [*MAPS, "architecture.md"])
def test_every_file_is_there_and_defines_the_symbol(page: str) -> None:
    wrong = [
        f"{about}: {file} does not define {symbol}"
        for about, file, symbol in rows(page)
        if symbol not in symbols_of(file)
    ]

    assert wrong == []


@pytest.mark.parametrize("page", MAPS)
def test_a_map_has_many_rows_and_each_can_be_checked(page: str) -> None:
    unchecked = lines_of_tables(page) - len(rows(page))
    headings = (EXPLANATION / page).read_text().count("| file | symbol |")
    admitted = (EXPLANATION / page).read_text().count("| none | there is no ")

    assert len(rows(page)) >= MAPS[page]
    assert unchecked == headings + admitted


@pytest.mark.parametrize("page", MAPS)
def test_nothing_has_two_rows(page: str) -> None:
    about = [row[0] for row in rows(page)]

    assert sorted(about) == sorted(set(about))


@pytest.mark.parametrize("page", ["docs/explanation/architecture.md", "CONTRIBUTING.md"])
def test_the_picture_of_the_layers_is_the_contract(page: str) -> None:
    assert layers_of_the_picture(REPOSITORY / page) == layers_of_the_contract()


def test_every_room_has_a_row_that_says_what_it_owns() -> None:
    rooms = {
        room
        for layer in layers_of_the_contract()
        for room in layer.split(" | ")
        if not room.startswith("(")
    }
    table = (EXPLANATION / "architecture.md").read_text().partition("## The packages")[2]

    assert set(re.findall(r"^\| `(\w+)` \|", table.partition("\n## ")[0], re.MULTILINE)) == rooms


# The docstrings of packages

PACKAGES: Final = [path.parent for path in sorted(SOURCE.rglob("__init__.py"))]


def text_of(package: Path) -> str:
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""


def listed_in(package: Path) -> list[str]:
    """The modules that stand at the beginning of a line of the list."""
    entries = LISTED.findall(re.sub(r",\n +", ", ", text_of(package)))
    return [name for entry in entries for name in re.findall(r"``(\w+)``", entry)]


def modules_in(package: Path) -> set[str]:
    """The modules and packages in it, without the private ones."""
    inside = (*package.glob("*.py"), *(path.parent for path in package.glob("*/__init__.py")))
    return {path.stem for path in inside if not path.stem.startswith("_")}


@pytest.mark.parametrize(
    "package",
    [package for package in PACKAGES if listed_in(package)],
    ids=lambda package: package.relative_to(SOURCE).as_posix(),
)
def test_a_package_that_lists_its_modules_names_all_of_them_and_no_other(package: Path) -> None:
    listed = listed_in(package)

    assert modules_in(package) - set(re.findall(r"``(\w+)``", text_of(package))) == set()
    assert [name for name in listed if not [*package.glob(f"{name}*")]] == []
    assert len(listed) == len(set(listed))


def test_most_packages_list_their_modules() -> None:
    assert len([package for package in PACKAGES if listed_in(package)]) > 0.8 * len(PACKAGES)
