"""Checks an expression against the types of its variables, and makes of it what can be run.

Each part is checked and built in one step: what fits which overload decides what is called.

Upstream: cel-go/checker/checker.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, assert_never

from reflet.apirules.cel import evaluation, syntax, types
from reflet.apirules.cel.evaluation import Run
from reflet.apirules.cel.macros import MACROS, Steps
from reflet.apirules.cel.signatures import Overload, overloads_of
from reflet.apirules.cel.types import Inference, Type
from reflet.apirules.cel.values import EvaluationError, TypeValue, Uint
from reflet.apirules.regular_expressions import MalformedExpression, compiled

_TYPES: Final[Mapping[str, Type]] = {
    **{each.kind: each for each in (types.BOOL, types.INT, types.UINT, types.DOUBLE)},
    **{each.kind: each for each in (types.STRING, types.BYTES)},
    "null_type": types.NULL,
    "list": types.list_of(types.DYN),
    "map": types.map_of(types.DYN, types.DYN),
    "type": Type("type"),
    "google.protobuf.Timestamp": types.TIMESTAMP,
    "google.protobuf.Duration": types.DURATION,
    "optional_type": types.optional_of(types.DYN),
}
_LITERALS: Final[Sequence[tuple[type, Type]]] = (
    (bool, types.BOOL),
    (Uint, types.UINT),
    (int, types.INT),
    (float, types.DOUBLE),
    (str, types.STRING),
    (bytes, types.BYTES),
    (type(None), types.NULL),
)
_PREDICATES: Final = frozenset({"all", "exists", "exists_one", "existsOne", "filter"})
_WITH_FILTER: Final = frozenset({"map", "transformList", "transformMap", "transformMapEntry"})


class CheckProblem(NamedTuple):
    """What is wrong, and where in the text."""

    at: int
    message: str


class Typed(NamedTuple):
    """A part of an expression: its type, and how it is run."""

    type: Type
    run: Run


def _failing(_: evaluation.Activation) -> Any:
    raise EvaluationError("not checked")


_WRONG: Final = Typed(types.ERROR, _failing)


class Checker:
    """Checks one expression.  ``variables`` are numbered from zero, in their order."""

    def __init__(self, variables: Mapping[str, Type]) -> None:
        self.problems: list[CheckProblem] = []
        self.used: set[str] = set()
        self.patterns: list[str] = []
        self.size = len(variables)
        self._may_mix = False  # whether lists may have items of several types, as in format()
        self._inference = Inference()
        self._scope = {name: (kind, slot) for slot, (name, kind) in enumerate(variables.items())}

    def check(self, node: syntax.Node) -> Typed:
        """Check a part; problems are kept, and what is wrong fits everything."""
        match node:
            case syntax.Literal(value, _):
                kind = next(kind for each, kind in _LITERALS if isinstance(value, each))
                return Typed(kind, evaluation.constant(value))
            case syntax.Identifier(name, at):
                return self._named(name, at)
            case syntax.Select():
                return self._select(node)
            case syntax.FunctionCall():
                return self._call(node)
            case syntax.ListLiteral(entries, _):
                return self._list(entries)
            case syntax.MapLiteral(entries, _):
                return self._map(entries)
            case syntax.MessageLiteral(name, at):
                return self._wrong(at, f"undeclared reference to '{name}' (in container '')")
            case syntax.Macro():
                return self._macro(node)
            case _:
                assert_never(node)

    def final(self, kind: Type) -> Type:
        """Give a type with all that is known by now."""
        return self._inference.resolved(kind, final=True)

    def _wrong(self, at: int, message: str) -> Typed:
        self.problems.append(CheckProblem(at, message))
        return _WRONG

    def _fits(self, wanted: Type, found: Typed, at: int) -> None:
        if not self._inference.assignable([wanted], [found.type]):
            shown = self.final(found.type)
            self._wrong(at, f"expected type '{wanted}' but found '{shown}'")

    def _named(self, name: str, at: int) -> Typed:
        known = self._scope.get(name)
        if known is not None:
            self.used.add(name)
            return Typed(known[0], evaluation.variable(known[1]))
        if name in _TYPES:
            value = evaluation.constant(TypeValue(name))
            return Typed(Type("type", (_TYPES[name],)), value)
        return self._wrong(at, f"undeclared reference to '{name}' (in container '')")

    def _select(self, node: syntax.Select) -> Typed:
        name = syntax.qualified_name(node)
        if name is not None and name in _TYPES:
            return self._named(name, node.at)
        operand = self.check(node.operand)
        target = self._inference.resolved(operand.type)
        is_optional = node.is_optional
        if target.kind == "optional":
            target, is_optional = target.parameters[0], True
        match target.kind:
            case "map":
                kind = target.parameters[1]
            case "object":
                found = target.fields.get(node.field)
                if found is None:
                    return self._wrong(node.at, f"undefined field '{node.field}'")
                kind = found
            case "variable" | "dyn" | "error":
                self._inference.assignable([types.DYN], [target])
                kind = types.DYN
            case _:
                said = f"type '{self.final(target)}' does not support field selection"
                return self._wrong(node.at, said)
        run = evaluation.select(
            operand.run, node.field, is_test=node.is_test, is_optional=node.is_optional
        )
        if node.is_test:
            return Typed(types.BOOL, run)
        return Typed(types.optional_of(kind) if is_optional else kind, run)

    def _list(self, entries: Sequence[syntax.LiteralEntry]) -> Typed:
        parts, kind = [], None
        for entry in entries:
            value = self._entry(entry)
            kind = self._joined(kind, value, entry.value.at)
            parts.append((value.run, entry.is_optional))
        kind = kind or self._inference.variable()
        return Typed(types.list_of(kind), evaluation.make_list(parts))

    def _map(self, entries: Sequence[syntax.LiteralEntry]) -> Typed:
        parts, key_kind, value_kind = [], None, None
        for entry in entries:
            if entry.key is None:
                continue
            key, value = self.check(entry.key), self._entry(entry)
            key_kind = self._joined(key_kind, key, entry.key.at)
            value_kind = self._joined(value_kind, value, entry.value.at)
            parts.append((key.run, value.run, entry.is_optional))
        made = types.map_of(
            key_kind or self._inference.variable(), value_kind or self._inference.variable()
        )
        return Typed(made, evaluation.make_map(parts))

    def _entry(self, entry: syntax.LiteralEntry) -> Typed:
        value = self.check(entry.value)
        if not entry.is_optional:
            return value
        kind = self._inference.resolved(value.type)
        if kind.kind == "optional":
            return Typed(kind.parameters[0], value.run)
        if not types.is_free(kind.kind):
            self._fits(types.optional_of(kind), value, entry.value.at)
        return value

    def _joined(self, before: Type | None, value: Typed, at: int) -> Type:
        if before is None:
            return value.type
        if self._inference.assignable([before], [value.type]):
            return types.wider(before, value.type)
        if self._may_mix:
            return types.DYN
        found = self.final(value.type)
        self._wrong(at, f"expected type '{self.final(before)}' but found '{found}'")
        return types.ERROR

    def _call(self, node: syntax.FunctionCall) -> Typed:
        if node.function in {"_&&_", "_||_"}:
            return self._logical(node)
        if node.function == "_?_:_":
            return self._conditional(node)
        may_mix, self._may_mix = self._may_mix, self._may_mix or node.function == "format"
        arguments = [self.check(each) for each in node.arguments]
        self._may_mix = may_mix
        if node.target is None:
            return self._resolved(node, node.function, None, arguments)
        prefix = syntax.qualified_name(node.target)
        if prefix is not None and overloads_of(f"{prefix}.{node.function}") is not None:
            return self._resolved(node, f"{prefix}.{node.function}", None, arguments)
        return self._resolved(node, node.function, self.check(node.target), arguments)

    def _logical(self, node: syntax.FunctionCall) -> Typed:
        terms = [self.check(each) for each in node.arguments]
        for term, each in zip(terms, node.arguments, strict=True):
            self._fits(types.BOOL, term, each.at)
        runs = [term.run for term in terms]
        return Typed(types.BOOL, evaluation.logical(runs, decisive=node.function == "_||_"))

    def _conditional(self, node: syntax.FunctionCall) -> Typed:
        condition, then, otherwise = (self.check(each) for each in node.arguments)
        kind = self._inference.variable()
        given = [condition.type, then.type, otherwise.type]
        if not self._inference.assignable(given, [types.BOOL, kind, kind]):
            return self._no_overload(node.at, "_?_:_", given, is_method=False)
        run = evaluation.conditional(condition.run, then.run, otherwise.run)
        return Typed(self._inference.resolved(kind), run)

    def _resolved(
        self, node: syntax.FunctionCall, name: str, target: Typed | None, arguments: list[Typed]
    ) -> Typed:
        declared = overloads_of(name)
        if declared is None:
            return self._wrong(node.at, f"undeclared reference to '{name}' (in container '')")
        parts = arguments if target is None else [target, *arguments]
        given = [part.type for part in parts]
        fitting: list[Overload] = []
        result: Type | None = None
        for overload in declared:
            if overload.is_method != (target is not None):
                continue
            parameters, kind = overload.instance(self._inference)
            if self._inference.assignable(given, parameters):
                fitting.append(overload)
                kind = self._inference.resolved(kind)
                result = kind if result in {None, kind} else types.DYN
        if result is None:
            return self._no_overload(node.at, name, given, is_method=target is not None)
        self._check_literal(node, name)
        if name in {"orValue", "or"} and target is not None:
            unwrapped = name == "orValue"
            run = evaluation.or_else(target.run, arguments[0].run, is_unwrapped=unwrapped)
            return Typed(result, run)
        kinds = [self._inference.resolved(each, final=True) for each in given]
        return Typed(result, evaluation.call(name, fitting, [part.run for part in parts], kinds))

    def _no_overload(self, at: int, name: str, given: Sequence[Type], *, is_method: bool) -> Typed:
        shown = [str(self.final(kind)) for kind in given]
        head = f"{shown.pop(0)}." if is_method else ""
        said = f"found no matching overload for '{name}' applied to '{head}({', '.join(shown)})'"
        return self._wrong(at, said)

    def _check_literal(self, node: syntax.FunctionCall, name: str) -> None:
        """Refuse texts that are written out and can never be read."""
        last = node.arguments[-1] if node.arguments else None
        if not isinstance(last, syntax.Literal) or not isinstance(last.value, str):
            return
        if name in {"matches", "find", "findAll"}:
            self.patterns.append(last.value)
            try:
                compiled(last.value)
            except MalformedExpression:
                self._wrong(last.at, f"invalid {name} argument")
        elif name in {"duration", "timestamp"}:
            (overload,) = (
                each for each in overloads_of(name) or () if each.parameters == (types.STRING,)
            )
            try:
                overload.run(last.value)
            except EvaluationError:
                self._wrong(last.at, f"invalid {name} argument")

    @contextmanager
    def _with_variables(self, names: Sequence[str], kinds: Sequence[Type]) -> Iterator[list[int]]:
        before, slots = self._scope, list(range(self.size, self.size + len(names)))
        self.size += len(names)
        self._scope = {**before, **dict(zip(names, zip(kinds, slots, strict=True), strict=True))}
        used = set(self.used)
        yield slots
        self.used = used | (self.used - set(names))
        self._scope = before

    def _macro(self, node: syntax.Macro) -> Typed:
        operand = self.check(node.operand)
        kinds = self._item_kinds(node, operand)
        with self._with_variables(node.variables, kinds) as slots:
            parts = [self.check(each) for each in node.arguments]
        has_filter = node.name in _WITH_FILTER and len(parts) == 2
        if node.name in _PREDICATES or has_filter:
            self._fits(types.BOOL, parts[0], node.arguments[0].at)
        steps = Steps(operand.run, tuple(slots), tuple(part.run for part in parts))
        return Typed(self._macro_result(node, operand, kinds, parts[-1]), MACROS[node.name](steps))

    def _item_kinds(self, node: syntax.Macro, operand: Typed) -> list[Type]:
        target = self._inference.resolved(operand.type)
        if node.name in {"optMap", "optFlatMap"}:
            inner = self._inference.variable()
            self._fits(types.optional_of(inner), operand, node.operand.at)
            return [self._inference.resolved(inner)]
        two = len(node.variables) == 2
        match target.kind:
            case "list":
                return [types.INT, target.parameters[0]] if two else [target.parameters[0]]
            case "map":
                return list(target.parameters) if two else [target.parameters[0]]
            case "dyn" | "error" | "variable":
                self._inference.assignable([types.DYN], [target])
                return [types.DYN] * len(node.variables)
            case _:
                self._wrong(
                    node.operand.at,
                    f"expression of type '{self.final(target)}' cannot be range of a "
                    "comprehension (must be list, map, or dynamic)",
                )
                return [types.ERROR] * len(node.variables)

    def _macro_result(
        self, node: syntax.Macro, operand: Typed, kinds: Sequence[Type], last: Typed
    ) -> Type:
        match node.name:
            case "map" | "transformList":
                return types.list_of(last.type)
            case "filter":
                return types.list_of(kinds[0])
            case "sortBy":
                return operand.type
            case "transformMap":
                return types.map_of(kinds[0], last.type)
            case "transformMapEntry":
                variables = self._inference.variable(), self._inference.variable()
                self._fits(types.map_of(*variables), last, node.arguments[-1].at)
                return self._inference.resolved(last.type)
            case "optMap":
                return types.optional_of(last.type)
            case "optFlatMap":
                wanted = types.optional_of(self._inference.variable())
                self._fits(wanted, last, node.arguments[-1].at)
                return self._inference.resolved(last.type)
            case _:
                return types.BOOL
