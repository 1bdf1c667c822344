"""The shape of the house: how full a folder is, how long a file, and what a name says once.

Each exception carries its reason.  An exception that is no longer one is a failure too, so that
the lists can only become shorter.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]
SOURCE: Final = REPOSITORY / "src/reflet"
MOST_MODULES: Final = 20  # in a folder, beside its __init__.py
LONGEST_FILE: Final = 449  # lines

# Folders that may be fuller, and files that may be longer, with the reason.
FULL_FOLDERS: Final[Mapping[str, str]] = {
    "cli/commands": "one file for each command, under its name, as in kubectl's pkg/cmd",
}
LONG_FILES: Final[Mapping[str, str]] = {}

# Folders whose files are called after what they are about, which has a file of its own elsewhere.
NAMED_AFTER: Final[Mapping[str, str]] = {
    "apirules/defaults": "what is filled in for a kind, after the structs of api/core",
    "apirules/validation": "the rules for a kind, after the structs of api/core",
    "blocking": "the same thing without an event loop",
    "cli/commands": "a command, after what it shows",
    "cri/messages": "messages of a container runtime, after what they describe",
}

# Folders whose classes have the names of another vocabulary than Kubernetes'.
OTHER_VOCABULARIES: Final[Mapping[str, str]] = {
    "cri/messages": "CRI's own names, by which its api.proto is compared with them",
}

# Names of files that occur more than once all the same, with the reason.
SHARED_FILE_NAMES: Final[Mapping[str, str]] = {
    "admission.py": "the API server's and the kubelet's, each called so there",
    "options.py": "options of requests, of informers and of the node agent, each in its own room",
}

# Names of classes that occur more than once, with the reason.
SHARED_CLASS_NAMES: Final[Mapping[str, str]] = {
    "DeleteOptions": "what our client asks for, and what the server reads: they share no code",
    "Done": "the result of a reconciliation, and an answer of the shim",
    "LabelSelector": "metav1.LabelSelector and labels.Selector: the field of a spec, and the text",
    "Outcome": "how a probe ended, and what containers of an image do in play",
    "Rule": "a rule of lint, and a rule of a Role",
    "Subject": "what lint looks at, and whom a RoleBinding names",
}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def known_modules() -> frozenset[str]:
    return frozenset(map(module_name, modules()))


def imports_of(source: str, known: Iterable[str]) -> Iterator[str]:
    """The modules that a source imports, deferred imports too, but not those for type checkers."""
    modules_known = frozenset(known)
    for node in _statements(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in modules_known)
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    inside = f"{module}.{alias.name}"
                    if inside in modules_known:
                        yield inside
                    elif module in modules_known:
                        yield module
            case _:
                pass


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(parent):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for each in child.orelse:
                yield each
                yield from _statements(each)
            continue
        yield child
        yield from _statements(child)


def cycles(graph: Mapping[str, frozenset[str]]) -> list[str]:
    """Name one cycle for each group of modules that need each other."""
    found: list[str] = []
    done: set[str] = set()
    for start in sorted(graph):
        if start in done:
            continue
        way = _way_back(start, graph, done)
        if way:
            found.append(" -> ".join(way))
            done.update(way)
        done.add(start)
    return found


def _way_back(start: str, graph: Mapping[str, frozenset[str]], done: set[str]) -> list[str]:
    """The shortest way from a module to itself, none when there is none."""
    came_from: dict[str, str] = {}
    waiting = [start]
    for module in waiting:
        for target in sorted(graph.get(module, frozenset())):
            if target == start:
                way = [start]
                while module != start:
                    way.append(module)
                    module = came_from[module]  # noqa: PLW2901 - walking back from here
                return [*way, start][::-1]
            if target not in came_from and target not in done:
                came_from[target] = module
                waiting.append(target)
    return []


def class_names() -> dict[str, list[str]]:
    """From the name of each class, private ones aside, to the files that define one."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        if str(path.parent.relative_to(SOURCE)) in OTHER_VOCABULARIES:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    return places


def file_names() -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        place = path.relative_to(SOURCE)
        if path.name not in {"__init__.py", "__main__.py"} and str(place.parent) not in NAMED_AFTER:
            places[path.name].append(str(place))
    return places


def repeated(places: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_folder_is_too_full_to_look_through() -> None:
    full = {
        str(folder.relative_to(SOURCE)): number
        for folder in sorted({path.parent for path in modules()})
        if (number := len([*folder.glob("*.py")]) - 1) > MOST_MODULES
    }

    assert full.keys() == FULL_FOLDERS.keys()


def test_no_file_is_too_long_to_read() -> None:
    long = {
        str(path.relative_to(REPOSITORY))
        for folder in ("src", "tests")
        for path in (REPOSITORY / folder).rglob("*.py")
        if len(path.read_text().splitlines()) > LONGEST_FILE
    }

    assert long == LONG_FILES.keys()


def test_no_modules_import_each_other_in_a_circle_not_even_inside_functions() -> None:
    graph = {
        module_name(path): frozenset(imports_of(path.read_text(), known_modules()))
        - {module_name(path)}
        for path in modules()
    }

    assert cycles(graph) == []


def test_no_class_name_means_two_things() -> None:
    shared = repeated(class_names())

    assert {name: found for name, found in shared.items() if name not in SHARED_CLASS_NAMES} == {}
    assert SHARED_CLASS_NAMES.keys() <= shared.keys()


def test_no_file_name_means_two_things() -> None:
    shared = repeated(file_names())

    assert {name: found for name, found in shared.items() if name not in SHARED_FILE_NAMES} == {}
    assert SHARED_FILE_NAMES.keys() <= shared.keys()


def test_contributing_says_how_a_commit_is_called() -> None:
    assert "`area: what changes`" in (REPOSITORY / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, ["a -> b -> a"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b -> c -> b"]),
        ({"a": {"b"}, "b": {"a"}, "x": {"y"}, "y": {"x"}}, ["a -> b -> a", "x -> y -> x"]),
    ],
)
def test_a_circle_is_named(graph: dict[str, set[str]], found: list[str]) -> None:
    frozen = {module: frozenset(imported) for module, imported in graph.items()}

    assert cycles(frozen) == found


def test_deferred_imports_count_and_those_for_type_checkers_do_not() -> None:
    source = """
from typing import TYPE_CHECKING
from a import thing
if TYPE_CHECKING:
    import b
else:
    import c
def later():
    from d import e
"""

    assert [*imports_of(source, {"a", "b", "c", "d", "d.e"})] == ["a", "c", "d.e"]
