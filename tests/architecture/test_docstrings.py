"""Every file says what it owns, and everything public says what it promises."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).parents[2] / "src/reflet"
FEWEST_WORDS: Final = 5  # fewer do not make a sentence that says anything

MODULES: Final = [
    pytest.param(path, id=str(path.relative_to(SOURCE))) for path in sorted(SOURCE.rglob("*.py"))
]


def has_a_sentence(docstring: str) -> bool:
    """Tell whether enough words somewhere come to a full stop."""
    *sentences, _ = re.split(r"\.(?:\s|$)", docstring)
    return any(len(sentence.split()) >= FEWEST_WORDS for sentence in sentences)


def undocumented(tree: ast.Module) -> list[str]:
    """Name the public classes, functions and methods that promise nothing."""
    return [
        f"line {node.lineno}: {owner}{node.name}"
        for owner, node in public_parts(tree, "")
        if ast.get_docstring(node) is None
    ]


def public_parts(
    parent: ast.Module | ast.ClassDef, owner: str
) -> list[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """List what is public in a module or class, with the name of the class that owns it."""
    parts: list[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for node in parent.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or is_written_elsewhere(node):
            continue
        parts.append((owner, node))
        if isinstance(node, ast.ClassDef):
            parts += public_parts(node, f"{owner}{node.name}.")
    return parts


def is_written_elsewhere(node: ast.AST) -> bool:
    """Tell whether the promise stands elsewhere: on the overloaded or overridden function."""
    decorators = getattr(node, "decorator_list", [])
    return any(
        ast.unparse(decorator).split(".")[-1] in {"overload", "override", "setter"}
        for decorator in decorators
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_in_a_sentence_what_it_owns(module: Path) -> None:
    docstring = ast.get_docstring(ast.parse(module.read_text()))

    assert docstring is not None
    assert has_a_sentence(docstring), docstring


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_says_what_it_promises(module: Path) -> None:
    assert undocumented(ast.parse(module.read_text())) == []


@pytest.mark.parametrize(
    "docstring", ["Clock.", "The clock", "clock.py", "Time and clocks and waiting"]
)
def test_a_name_or_a_heading_is_not_a_sentence(docstring: str) -> None:
    assert not has_a_sentence(docstring)


def test_a_public_method_without_a_promise_is_noticed() -> None:
    tree = ast.parse(
        'class Clock:\n    """Tells."""\n    def now(self): ...\n    def _hidden(self): ...'
    )

    assert undocumented(tree) == ["line 3: Clock.now"]
