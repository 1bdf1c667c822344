"""Expressions in one line, for tests of what they come to."""

from __future__ import annotations

from typing import Any, Final

from reflet.apirules.cel.expression import CompilationFailed, compile_expression
from reflet.apirules.cel.types import DYN, INT, STRING, Type, list_of, map_of

LIMIT: Final = 100_000
VARIABLES: Final = {
    "self": DYN,
    "text": STRING,
    "numbers": list_of(INT),
    "table": map_of(STRING, INT),
    "pair": Type("object", name="Pair", fields={"a": INT, "b": STRING}),
}


def value_of(text: str, limit: int = LIMIT, /, **given: Any) -> Any:
    """Evaluate an expression."""
    compiled = compile_expression(text, VARIABLES)
    return compiled.evaluate([given.get(name) for name in VARIABLES], limit=limit)[0]


def type_of(text: str) -> str:
    """Name the type of an expression."""
    return str(compile_expression(text, VARIABLES).type)


def refusal_of(text: str) -> str:
    """Say why an expression does not compile; the first line of it."""
    try:
        compile_expression(text, VARIABLES)
    except CompilationFailed as failure:
        return str(failure).partition("\n")[0]
    return ""
