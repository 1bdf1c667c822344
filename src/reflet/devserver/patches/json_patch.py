"""Carries out JSON patches (RFC 6902) and JSON merge patches (RFC 7386), with the server's habits.

Some are not in the RFC: ``replace`` of a key that is missing adds it, ``copy`` of one copies null,
indexes may count from the end, and what stands before the first slash of a path is ignored.  What
all copies of a patch add up to is limited.  The refusals show the result or the patch.

Upstream: gopkg.in/evanphx/json-patch.v4, patch.go and merge.go;
apiserver/pkg/endpoints/handlers/patch.go, jsonPatcher
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reflet.apirules import refusals
from reflet.devserver.patches.json_values import check_depth, copied, same
from reflet.errors import ApiError, Cause, DecodeError, RefletError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

MOST_COPIED: Final = 3 * 1024 * 1024  # bytes of JSON, of all copies in a patch together
MISSING: Final = object()

_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
NO_OBJECT: Final = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of "
    r'type struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a patch; ``source`` is its ``from``, and a value may be missing."""

    op: str
    path: str | None = None
    source: str | None = None
    value: Any = MISSING


class OperationFailed(RefletError):
    """An operation cannot be carried out; the real server keeps the reason to itself."""


def json_patch(document: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document after all operations; the first that fails refuses them all."""
    try:
        patched = _Patching(document).result(operations)
    except (OperationFailed, DecodeError) as error:
        raise refusals.rejected() from error
    if not isinstance(patched, dict):
        raise unreadable_result(patched, NO_OBJECT)
    return patched


class _Patching:
    """One document being changed; it is ours, so it is changed in place."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._root: Any = copied(document)
        self._copied = 0

    def result(self, operations: Iterable[Operation]) -> Any:
        for operation in operations:
            match operation.op:
                case "add":
                    self._add(_path(operation), self._value(operation))
                case "remove":
                    self._remove(_path(operation))
                case "replace":
                    self._replace(_path(operation), operation)
                case "move":
                    self._move(_path(operation), _source(operation))
                case "copy":
                    self._copy(_path(operation), _source(operation))
                case "test":
                    self._test(_path(operation), operation.value)
                case unknown:
                    raise OperationFailed(f"there is no operation {unknown!r}")
        check_depth(self._root)
        return self._root

    @staticmethod
    def _value(operation: Operation) -> Any:
        return None if operation.value is MISSING else copied(operation.value)

    def _add(self, path: str, value: Any) -> None:
        container, key = self._find(path)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            # One more than there are, because behind the last is a place too.
            container.insert(_index(key, len(container) + 1), value)

    def _remove(self, path: str) -> Any:
        container, key = self._find(path)
        if isinstance(container, dict):
            if key not in container:
                raise OperationFailed(f"there is no {path}")
            return container.pop(key)
        return container.pop(_index(key, len(container)))

    def _replace(self, path: str, operation: Operation) -> None:
        value = self._value(operation)
        if path:
            container, key = self._find(path)
            if isinstance(container, dict):
                container[key] = value
            else:
                container[_index(key, len(container))] = value
        elif isinstance(value, dict | list):
            self._root = value
        else:
            raise OperationFailed("the whole can only be replaced by an object or a list")

    def _move(self, path: str, source: str) -> None:
        self._add(path, self._remove(source))

    def _copy(self, path: str, source: str) -> None:
        value = self._get(source)
        self._find(path)
        found = None if value is MISSING else copied(value)
        if value is not MISSING:
            self._copied += len(printing.json_text(found).encode("utf-8", "replace"))
        if self._copied > MOST_COPIED:
            raise OperationFailed(f"copies add up to more than {MOST_COPIED} bytes")
        self._add(path, found)

    def _test(self, path: str, expected: Any) -> None:
        found = self._get(path) if path else self._root
        if found is MISSING or found is None:
            holds = expected is MISSING or expected is None
        else:
            holds = expected is not MISSING and same(found, expected)
        if not holds:
            raise OperationFailed(f"{path} is not what the test expects")

    def _get(self, path: str) -> Any:
        container, key = self._find(path)
        if isinstance(container, dict):
            return container.get(key, MISSING)
        return container[_index(key, len(container))]

    def _find(self, path: str) -> tuple[Any, str]:
        """Return the container that a path ends in, and its last step."""
        _, *steps = path.split("/")
        if not steps:
            raise OperationFailed("the whole has no container")
        container = self._root
        for step in steps[:-1]:
            name = _unescaped(step)
            if isinstance(container, dict):
                container = container.get(name)
            else:
                container = container[_index(name, len(container))]
            if not isinstance(container, dict | list):
                raise OperationFailed(f"{path} leads through what is no container")
        return container, _unescaped(steps[-1])


def _path(operation: Operation) -> str:
    if operation.path is None:
        raise OperationFailed(f"{operation.op} needs a path")
    return operation.path


def _source(operation: Operation) -> str:
    if operation.source is None:
        raise OperationFailed(f"{operation.op} needs a from")
    return operation.source


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _index(text: str, length: int) -> int:
    if not _INDEX.fullmatch(text):
        raise OperationFailed(f"{text!r} is no index")
    index = int(text)
    if not -length <= index < length:
        raise OperationFailed(f"index {index} is out of range")
    return index + length if index < 0 else index


def merge_patch(document: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the patch merged in: maps merge, null deletes, all else replaces."""
    merged = dict(document)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _merged(current: Any, value: Any) -> Any:
    if not isinstance(current, dict):
        return _without_nulls(value)
    # A list in place of a map keeps the nulls inside, unlike one in place of anything else.
    return merge_patch(current, value) if isinstance(value, dict) else value


def _without_nulls(value: Any) -> Any:
    """Drop keys without a value; a null in a list is an item."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def unreadable_result(patched: Any, problem: str) -> ApiError:
    """Refuse what a JSON or merge patch made; ``problem`` says why it cannot be read."""
    return _unreadable(printing.json_text(patched), problem)


def unreadable_strategic_result(patch: Mapping[str, Any], problem: str) -> ApiError:
    """Refuse what a strategic merge patch made; the message shows the patch."""
    return _unreadable(printing.plain(patch), problem)


def without_prefix(message: str) -> str:
    """Leave out of a refusal what only says for which kind a document cannot be read."""
    _, found, problem = message.partition(": ")
    return problem if found and "cannot be handled as" in message else message


def _unreadable(shown: str, problem: str) -> ApiError:
    message = f"Invalid value: {quoted(shown)}: {problem}"
    return refusals.invalid("", "", [Cause("FieldValueInvalid", message, "patch")])
