"""Who may import whom: the contracts of pyproject.toml, and what contracts cannot say.

The tables here hold for rooms that are not built yet, from the day they are.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import grimp
import pytest

REPOSITORY: Final = Path(__file__).parents[2]
SOURCE: Final = REPOSITORY / "src/reflet"

PURE: Final = ("errors", "gotext", "api", "resolution", "apirules", "insight")

# The rooms that may use fewer of ours than their layer allows, and what they may use.
MAY_USE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "errors": frozenset(),
        "gotext": frozenset({"errors"}),
        "api": frozenset({"gotext", "errors"}),
        "resolution": frozenset({"api", "gotext", "errors"}),
        "apirules": frozenset({"api", "gotext", "errors"}),
        "devserver": frozenset({"apirules", "api", "gotext", "errors"}),
        # Which kinds are Kubernetes' own, and what pods get by default, are the server's rules.
        "insight": frozenset({"resolution", "apirules", "api", "gotext", "errors"}),
        # By shape alone: any client will do.
        "managers": frozenset({"informer", "resolution", "store", "runtime", "api", "errors"}),
        # A client of the server, through its front door like anybody else.
        "play": frozenset(
            {
                *("cluster", "controllers", "informer", "client", "store", "runtime"),
                *("api", "gotext", "errors"),
            }
        ),
        # Runtimes have words of their own, so not even those of the API server.
        "pleg": frozenset({"runtime", "gotext", "errors"}),
    }
)

# What the development server may share with the clients it tests: the meaning of values, held to
# recorded answers of the Go code (tests/conformance) or to the real server (tests/real).
SHARED_WITH_CLIENTS: Final = frozenset(
    {
        "reflet.api.quantities",
        "reflet.api.selectors.fields",
        "reflet.api.selectors.labels",
        "reflet.api.yaml.dialects",
        "reflet.api.yaml.documents",
        "reflet.api.yaml.json_text",
    }
)

# Foreign libraries, and the rooms that may know them.
KNOWN_BY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "aiohttp": frozenset({"transport", "devserver", "adapters"}),
        "h2": frozenset({"transport", "devserver"}),
        "click": frozenset({"cli"}),
        "httpx2": frozenset({"adapters"}),
        "kubernetes": frozenset({"adapters"}),
        "kubernetes_asyncio": frozenset({"adapters"}),
        "lightkube": frozenset({"adapters"}),
        "prometheus_client": frozenset({"adapters"}),
        "pydantic": frozenset({"adapters"}),
        "pydantic_core": frozenset({"adapters"}),
        "urllib3": frozenset({"adapters"}),
    }
)

# Standard modules of which only some parts do I/O, so that a contract on the whole is too much.
FORBIDDEN_PARTS: Final = frozenset({"urllib.request", "urllib.error", "urllib.response"})

FORBIDDEN_CALLS: Final = frozenset(
    {
        *("open", "print", "input", "exec", "eval", "breakpoint", "__import__"),
        *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
        *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"),
        *("time.time", "time.monotonic", "time.sleep"),
        *("io.open", "importlib.import_module"),
    }
)


@cache
def imports_of_rooms() -> Mapping[str, frozenset[tuple[str, str]]]:
    """Return for each room of ours the direct imports of its modules: (importer, imported)."""
    graph = grimp.build_graph("reflet", include_external_packages=True, cache_dir=None)
    rooms: dict[str, set[tuple[str, str]]] = {}
    for module in graph.modules:
        if module.startswith("reflet."):
            imports = rooms.setdefault(room_of(module), set())
            for imported in graph.find_modules_directly_imported_by(module):
                imports.add((module, imported))
    return {room: frozenset(imports) for room, imports in rooms.items()}


def room_of(module: str) -> str:
    return module.split(".")[1]


def modules_of(room: str) -> Iterator[Path]:
    if (SOURCE / f"{room}.py").exists():
        yield SOURCE / f"{room}.py"
    yield from sorted((SOURCE / room).rglob("*.py"))


def pure_modules() -> list[Path]:
    return [module for room in PURE for module in modules_of(room)]


def complaints_about(source: str) -> list[str]:
    """Name what pure code must not do, with the line where it is done."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=function) if ast.unparse(function) in FORBIDDEN_CALLS:
                found.append(f"line {node.lineno} calls {ast.unparse(function)}")
            case ast.Import(names=names):
                found += [
                    f"line {node.lineno} imports {alias.name}"
                    for alias in names
                    if alias.name in FORBIDDEN_PARTS
                ]
            case ast.ImportFrom(module=str(module), names=names):
                found += [
                    f"line {node.lineno} imports {module}.{alias.name}"
                    for alias in names
                    if not FORBIDDEN_PARTS.isdisjoint({module, f"{module}.{alias.name}"})
                ]
            case ast.AsyncFunctionDef(name=name):
                found.append(f"line {node.lineno} defines async {name}")
            case _:
                pass
    return found


def test_every_import_contract_is_kept() -> None:
    # In a process of its own, because it reconfigures logging for the whole process.
    linter = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"

    finished = subprocess.run(
        [sys.executable, "-c", linter], cwd=REPOSITORY, capture_output=True, check=False, text=True
    )

    assert finished.returncode == 0, finished.stdout


@pytest.mark.parametrize("room", MAY_USE)
def test_a_room_uses_only_the_rooms_it_may(room: str) -> None:
    strangers = [
        f"{importer} imports {imported}"
        for importer, imported in sorted(imports_of_rooms().get(room, ()))
        if imported.startswith("reflet.")
        if room_of(imported) not in MAY_USE[room] | {room, "_exports", "_version"}
    ]

    assert strangers == []


@pytest.mark.parametrize("room", ["apirules", "devserver"])
def test_the_development_server_shares_only_what_values_mean(room: str) -> None:
    shared = {
        imported for _, imported in imports_of_rooms()[room] if imported.startswith("reflet.api.")
    }

    assert shared <= SHARED_WITH_CLIENTS


def test_nobody_inside_imports_the_front_page() -> None:
    """Importing names from ``reflet`` itself, inside, would make every part need all parts."""
    inside = [
        f"{importer} imports reflet"
        for imports in imports_of_rooms().values()
        for importer, imported in sorted(imports)
        if imported == "reflet"
    ]

    assert inside == []


@pytest.mark.parametrize("library", KNOWN_BY)
def test_a_library_is_known_only_in_its_rooms(library: str) -> None:
    rooms = {
        room
        for room, imports in imports_of_rooms().items()
        if any(imported == library for _, imported in imports)
    }

    assert rooms <= KNOWN_BY[library]


@pytest.mark.parametrize(
    "module", [pytest.param(path, id=str(path.relative_to(SOURCE))) for path in pure_modules()]
)
def test_the_pure_core_only_computes(module: Path) -> None:
    assert complaints_about(module.read_text()) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("created = datetime.now(UTC)", "line 1 calls datetime.now"),
        ("import datetime\ndatetime.datetime.now()", "line 2 calls datetime.datetime.now"),
        ("x = 1\nprint(x)", "line 2 calls print"),
        ("text = open('file').read()", "line 1 calls open"),
        ("from urllib.request import urlopen", "line 1 imports urllib.request.urlopen"),
        ("from urllib import request", "line 1 imports urllib.request"),
        ("import urllib.request", "line 1 imports urllib.request"),
        ("async def wait(): ...", "line 1 defines async wait"),
    ],
)
def test_what_pure_code_must_not_do_is_noticed(source: str, complaint: str) -> None:
    assert complaints_about(source) == [complaint]


def test_what_pure_code_may_do_is_left_alone() -> None:
    innocent = "from urllib.parse import quote\nfrom datetime import datetime\nopened = quote('a')"

    assert complaints_about(innocent) == []
