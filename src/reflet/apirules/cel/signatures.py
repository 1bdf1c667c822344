"""The functions that expressions may call: a table of signatures, each with what it does.

A signature is written as ``string::contains(string) bool`` (a method), ``size(bytes) int``, or
``ip.isCanonical(string) bool`` (in a namespace).  A single capital is a variable for any type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

from reflet.apirules.cel.types import Inference, Type

_SIGNATURE: Final = re.compile(
    r"(?:(?P<target>.+)::)?(?P<name>[^( ]+)\((?P<rest>.*)\) (?P<result>.+)"
)
_WORD: Final = re.compile(r"[\w.]+")

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
_table: dict[str, list[Overload]] = {}


@dataclass(frozen=True, slots=True)
class Overload:
    """One way of calling a function; a target is the first parameter."""

    is_method: bool
    parameters: tuple[Type, ...]
    result: Type
    run: Function
    work: Function | None = None  # what a call may cost besides, given its arguments

    def instance(self, inference: Inference) -> tuple[tuple[Type, ...], Type]:
        """Give parameters and result with variables of their own."""
        fresh: dict[str, Type] = {}

        def renamed(kind: Type) -> Type:
            if kind.kind == "variable":
                if kind.name not in fresh:
                    fresh[kind.name] = inference.variable()
                return fresh[kind.name]
            if not kind.parameters:
                return kind
            return Type(kind.kind, tuple(map(renamed, kind.parameters)))

        return tuple(map(renamed, self.parameters)), renamed(self.result)


def signature(*texts: str, work: Function | None = None) -> Callable[[F], F]:
    """Register a function under signatures."""

    def register(run: F) -> F:
        for text in texts:
            declare(text, run, work)
        return run

    return register


def declare(text: str, run: Function, work: Function | None = None) -> None:
    """Register a function under a signature."""
    found = _SIGNATURE.fullmatch(text)
    if found is None:
        raise ValueError(f"no signature: {text}")
    target = found["target"]
    parameters = _types(found["rest"])
    if target is not None:
        parameters = (*_types(target), *parameters)
    made = Overload(target is not None, parameters, _types(found["result"])[0], run, work)
    _table.setdefault(found["name"], []).append(made)


def overloads_of(name: str) -> list[Overload] | None:
    """Give the ways of calling a function, or None if there is no such function."""
    return _table.get(name)


@cache
def _types(text: str) -> tuple[Type, ...]:
    found, at = [], 0
    while at < len(text):
        kind, at = _type(text, at)
        found.append(kind)
        while at < len(text) and text[at] in ", ":
            at += 1
    return tuple(found)


def _type(text: str, at: int) -> tuple[Type, int]:
    word = _WORD.match(text, at)
    if word is None:
        raise ValueError(f"no type: {text[at:]}")
    name, at = word.group(), word.end()
    if len(name) == 1:
        return Type("variable", name=name), at
    parameters = []
    if text[at : at + 1] == "(":
        at += 1
        while text[at] != ")":
            inner, at = _type(text, at)
            parameters.append(inner)
            while text[at] in ", ":
                at += 1
        at += 1
    return Type(name, tuple(parameters)), at
