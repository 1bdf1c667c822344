"""What commands import late is what type checkers believe they import."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

import pytest

from reflet.cli import lazy


def imported_for_type_checkers() -> Iterator[tuple[str, str]]:
    tree = ast.parse(inspect.getsource(lazy))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    for statement in block.body:
        if isinstance(statement, ast.Import):
            yield from ((name.asname or name.name, name.name) for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            for name in statement.names:
                yield name.asname or name.name, f"{statement.module}.{name.name}"


def test_the_table_and_the_imports_agree() -> None:
    assert dict(imported_for_type_checkers()) == lazy._HOMES


@pytest.mark.parametrize("name", lazy._HOMES)
def test_every_module_is_there(name: str) -> None:
    assert getattr(lazy, name).__name__ == lazy._HOMES[name]


def test_another_name_is_an_error_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(lazy, "nothing")  # noqa: B009 - the type checker knows that it is not there
