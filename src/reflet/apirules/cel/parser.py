"""Reads an expression, and turns macros into what they mean.

Upstream: cel-spec/doc/langdef.md, Syntax; cel-go/parser
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reflet.apirules.cel.syntax import (
    FunctionCall,
    Identifier,
    ListLiteral,
    Literal,
    LiteralEntry,
    Macro,
    MapLiteral,
    MessageLiteral,
    Node,
    Select,
)
from reflet.apirules.cel.tokens import RESERVED, Lexeme, SyntaxProblem, tokens_of

LONGEST_EXPRESSION: Final = 100_000  # code points, as in the real server
_CONSTANTS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None}
_LEVELS: Final = (
    frozenset({"<", "<=", ">=", ">", "==", "!=", "in"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
# How many names and how many expressions a macro takes, by its number of arguments.
_ONE: Final = {2: 1}
_ONE_OR_TWO: Final = {2: 1, 3: 2}
_MACROS: Final[Mapping[str, Mapping[int, int]]] = {
    "all": _ONE_OR_TWO,
    "exists": _ONE_OR_TWO,
    "exists_one": _ONE_OR_TWO,
    "existsOne": _ONE_OR_TWO,
    "map": {2: 1, 3: 1},
    "filter": _ONE,
    "transformList": {3: 2, 4: 2},
    "transformMap": {3: 2, 4: 2},
    "transformMapEntry": {3: 2, 4: 2},
    "optMap": _ONE,
    "optFlatMap": _ONE,
    "sortBy": _ONE,
}


def parse(text: str) -> Node:
    """Read an expression.  Raises SyntaxProblem."""
    if len(text) > LONGEST_EXPRESSION:
        said = f"expression code point size exceeds limit: size: {len(text)}, limit 100000"
        raise SyntaxProblem(0, said)
    try:
        return _Parser(text).whole()
    except RecursionError:
        raise SyntaxProblem(0, "expression recursion limit exceeded: 250") from None


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(tokens_of(text))
        self._next = 0

    def whole(self) -> Node:
        found = self._expression()
        if self._token.kind != "end":
            raise self._unexpected()
        return found

    @property
    def _token(self) -> Lexeme:
        return self._tokens[self._next]

    def _unexpected(self) -> SyntaxProblem:
        return SyntaxProblem(self._token.at, f"Syntax error: mismatched input '{self._token.text}'")

    def _is(self, *signs: str) -> bool:
        token = self._token
        return token.text in signs and (token.kind == "operator" or token.text == "in")

    def _take(self) -> Lexeme:
        self._next += 1
        return self._tokens[self._next - 1]

    def _skip(self, sign: str) -> bool:
        if self._is(sign):
            self._next += 1
            return True
        return False

    def _want(self, sign: str) -> Lexeme:
        if not self._is(sign):
            raise self._unexpected()
        return self._take()

    def _expression(self) -> Node:
        condition = self._logical("||", "_||_")
        if not self._is("?"):
            return condition
        at = self._take().at
        then = self._logical("||", "_||_")
        self._want(":")
        return FunctionCall("_?_:_", None, (condition, then, self._expression()), at)

    def _logical(self, sign: str, function: str) -> Node:
        # Chains are kept flat, since generated rules have them hundreds long.
        terms, at = [self._term(sign)], self._token.at
        while self._skip(sign):
            terms.append(self._term(sign))
        return terms[0] if len(terms) == 1 else FunctionCall(function, None, tuple(terms), at)

    def _term(self, sign: str) -> Node:
        return self._logical("&&", "_&&_") if sign == "||" else self._binary(0)

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._is(*_LEVELS[level]):
            sign = self._take()
            name = "@in" if sign.text == "in" else f"_{sign.text}_"
            left = FunctionCall(name, None, (left, self._binary(level + 1)), sign.at)
        return left

    def _unary(self) -> Node:
        if not self._is("!", "-"):
            return self._member()
        first = self._take()
        following = self._token
        is_number = following.kind == "literal" and isinstance(following.value, int | float)
        if first.text == "-" and is_number and following.text[-1:] not in "uU":
            self._next += 1
            negative = Literal(-following.value, first.at)
            return self._members(negative)
        count = 1
        while self._skip(first.text):
            count += 1
        inner = self._member()
        name = "!_" if first.text == "!" else "-_"
        return FunctionCall(name, None, (inner,), first.at) if count % 2 else inner

    def _member(self) -> Node:
        return self._members(self._primary())

    def _members(self, found: Node) -> Node:
        while self._is(".", "["):
            sign = self._take()
            is_optional = self._skip("?")
            if sign.text == "[":
                name = "_[?_]" if is_optional else "_[_]"
                found = FunctionCall(name, None, (found, self._expression()), sign.at)
                self._want("]")
                continue
            field = self._take()
            if field.kind not in {"name", "quoted"} or field.text == "in":
                raise SyntaxProblem(
                    field.at, f"Syntax error: no viable alternative at input '.{field.text}'"
                )
            if self._is("(") and not is_optional and field.kind == "name":
                at = self._token.at
                found = _call(field.text, found, self._arguments(), at)
            else:
                found = Select(found, field.text, sign.at, is_optional=is_optional)
        return found

    def _arguments(self) -> tuple[Node, ...]:
        self._want("(")
        found: list[Node] = []
        while not self._is(")"):
            found.append(self._expression())
            if not self._skip(","):
                break
        self._want(")")
        return tuple(found)

    def _primary(self) -> Node:
        token = self._token
        if token.kind == "literal":
            value = self._take().value
            if value == 2**63 and isinstance(value, int):
                raise SyntaxProblem(token.at, "invalid int literal")
            return Literal(value, token.at)
        if self._skip("("):
            inner = self._expression()
            self._want(")")
            return inner
        if self._is("["):
            return self._list()
        if self._is("{"):
            return self._map()
        self._skip(".")
        name = self._take()
        if name.kind != "name" or name.text == "in":
            self._next -= 1
            raise self._unexpected()
        return self._named(name)

    def _named(self, name: Lexeme) -> Node:
        if name.text in _CONSTANTS:
            return Literal(_CONSTANTS[name.text], name.at)
        if name.text in RESERVED:
            raise SyntaxProblem(name.at, f"reserved identifier: {name.text}")
        if self._is("("):
            at = self._token.at
            return _call(name.text, None, self._arguments(), at)
        ahead, whole = self._next, name.text
        while self._tokens[ahead].text == "." and self._tokens[ahead + 1].kind == "name":
            whole += f".{self._tokens[ahead + 1].text}"
            ahead += 2
        if self._tokens[ahead].text == "{" and self._tokens[ahead].kind == "operator":
            return MessageLiteral(whole, self._skip_braces(ahead))
        return Identifier(name.text, name.at)

    def _skip_braces(self, start: int) -> int:
        """Pass over the fields of a message, whose type nobody knows anyway."""
        depth, self._next = 0, start
        while self._token.kind != "end":
            token = self._take()
            if token.kind == "operator":
                depth += (token.text == "{") - (token.text == "}")
            if not depth:
                return self._tokens[start].at
        raise self._unexpected()

    def _list(self) -> Node:
        at = self._want("[").at
        entries: list[LiteralEntry] = []
        while not self._is("]"):
            is_optional = self._skip("?")
            entries.append(LiteralEntry(None, self._expression(), is_optional))
            if not self._skip(","):
                break
        self._want("]")
        return ListLiteral(tuple(entries), at)

    def _map(self) -> Node:
        at = self._want("{").at
        entries: list[LiteralEntry] = []
        while not self._is("}"):
            is_optional = self._skip("?")
            key = self._expression()
            self._want(":")
            entries.append(LiteralEntry(key, self._expression(), is_optional))
            if not self._skip(","):
                break
        self._want("}")
        return MapLiteral(tuple(entries), at)


def _call(name: str, target: Node | None, arguments: tuple[Node, ...], at: int) -> Node:
    if name == "has" and target is None and len(arguments) == 1:
        return _presence(arguments[0], at)
    names = _MACROS.get(name, {}).get(len(arguments))
    if target is None or names is None:
        return FunctionCall(name, target, arguments, at)
    variables: list[str] = []
    for each in arguments[:names]:
        if not isinstance(each, Identifier):
            raise SyntaxProblem(each.at, "argument must be a simple name")
        variables.append(each.name)
    if len(set(variables)) < len(variables):
        raise SyntaxProblem(arguments[1].at, f"duplicate variable name: {variables[0]}")
    return Macro(name, target, tuple(variables), arguments[names:], at)


def _presence(argument: Node, at: int) -> Node:
    if not isinstance(argument, Select) or argument.is_test:
        raise SyntaxProblem(argument.at, "invalid argument to has() macro")
    return Select(argument.operand, argument.field, at, is_test=True)
