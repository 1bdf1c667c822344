"""From the text of an expression to what can be evaluated.

Upstream: cel-go/cel/env.go, Compile; cel-go/common/error.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# Imported for the functions that they declare.
from reflet.apirules.cel import (
    kubernetes_functions,
    list_functions,
    network_functions,
    operators,
    text_functions,
    time_functions,
)
from reflet.apirules.cel.checker import Checker, CheckProblem
from reflet.apirules.cel.evaluation import Activation, Run
from reflet.apirules.cel.parser import parse
from reflet.apirules.cel.tokens import SyntaxProblem
from reflet.apirules.cel.types import Type
from reflet.apirules.cel.values import OutOfBudget

LIBRARIES: Final = (
    *(operators, text_functions, list_functions, time_functions),
    *(network_functions, kubernetes_functions),
)


class CompilationFailed(ValueError):
    """The text is no expression, or cannot be of these types; the message says where."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that can be evaluated, any number of times."""

    text: str
    type: Type
    used: frozenset[str]  # the variables that it reads
    patterns: tuple[str, ...]  # the regular expressions that are written out in it
    run: Run
    size: int

    def evaluate(self, variables: Sequence[Any], *, limit: int) -> tuple[Any, int]:
        """Give the value, and what it cost.

        Raises EvaluationError, NotEvaluated, and OutOfBudget above ``limit``.
        """
        activation = Activation(variables, self.size, limit=limit)
        try:
            value = self.run(activation)
        except RecursionError:
            raise OutOfBudget from None
        activation.spend(0)
        return value, activation.cost


def compile_expression(text: str, variables: Mapping[str, Type]) -> Expression:
    """Check an expression, given the types of its variables.  Raises CompilationFailed."""
    checker = Checker(variables)
    try:
        typed = checker.check(parse(text))
    except SyntaxProblem as problem:
        raise CompilationFailed(_shown(text, CheckProblem(problem.at, str(problem)))) from None
    except RecursionError:
        said = CheckProblem(0, "expression recursion limit exceeded: 250")
        raise CompilationFailed(_shown(text, said)) from None
    if checker.problems:
        found = sorted(set(checker.problems))
        raise CompilationFailed("\n".join(_shown(text, each) for each in found))
    used = frozenset(checker.used & set(variables))
    kind, patterns = checker.final(typed.type), tuple(checker.patterns)
    return Expression(text, kind, used, patterns, typed.run, checker.size)


def _shown(text: str, problem: CheckProblem) -> str:
    start = text.rfind("\n", 0, problem.at) + 1
    line = text.count("\n", 0, problem.at) + 1
    column = problem.at - start
    written = text[start:].partition("\n")[0]
    dots = "".join("." if ord(each) < 0x1100 else "\uff0e" for each in written[:column])
    where = f"<input>:{line}:{column + 1}"
    return f"ERROR: {where}: {problem.message}\n | {written}\n | {dots}^"
