"""Complaints about fields: their types, their texts, and how values are shown in them.

Upstream: apimachinery/pkg/util/validation/field/errors.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, final

from reflet.errors import Cause
from reflet.gotext.printing import json_text
from reflet.gotext.quoting import quoted


class Named(str):
    """A text of a type that has a name in Go, as most words of a fixed choice are.

    Such texts are shown as JSON, which writes ``<``, ``>`` and ``&`` as numbers; others are quoted.
    """

    __slots__ = ()


OMITTED: Final = object()
"""In the place of a value that messages do not show."""


@final
class FieldErrors:
    """The complaints about one object, in the order in which they were found.

    ``path`` arguments name the field as messages do: ``spec.containers[0].name``.
    """

    __slots__ = ("causes", "pattern_steps")

    def __init__(self) -> None:
        self.causes: list[Cause] = []
        # What matching patterns may have taken so far, which is bounded for a whole object.
        self.pattern_steps = 0

    def __bool__(self) -> bool:
        return bool(self.causes)

    def __len__(self) -> int:
        return len(self.causes)

    def required(self, path: str, detail: str = "") -> None:
        """Say that a value is missing."""
        self._add("FieldValueRequired", path, "Required value", detail)

    def invalid(self, path: str, value: Any, detail: str) -> None:
        """Say that a value is malformed or out of range."""
        self._add("FieldValueInvalid", path, _with_value("Invalid value", value), detail)

    def each_invalid(self, path: str, value: Any, details: Iterable[str]) -> None:
        """Say each of several things that are wrong with one value."""
        for detail in details:
            self.invalid(path, value, detail)

    def type_invalid(self, path: str, value: Any, detail: str) -> None:
        """Say that a value has a wrong type."""
        self._add("FieldValueTypeInvalid", path, f"Invalid value: {shown(value)}", detail)

    def not_supported(
        self, path: str, value: Any, supported: Sequence[Any], *, plain: bool = False
    ) -> None:
        """Say that a value is none of those that exist.

        ``plain`` is for what is a mere string in Go; see ``Named``.
        """
        if isinstance(value, str) and not plain:
            value = Named(value)
        known = ", ".join(quoted(str(each)) for each in supported)
        detail = f"supported values: {known}" if supported else ""
        self._add("FieldValueNotSupported", path, f"Unsupported value: {shown(value)}", detail)

    def duplicate(self, path: str, value: Any) -> None:
        """Say that a value was there before."""
        self._add("FieldValueDuplicate", path, _with_value("Duplicate value", value), "")

    def not_found(self, path: str, value: Any, detail: str = "") -> None:
        """Say that what a value refers to is not there."""
        self._add("FieldValueNotFound", path, f"Not found: {shown(value)}", detail)

    def forbidden(self, path: str, detail: str) -> None:
        """Say that a value must not be there, or not be changed."""
        self._add("FieldValueForbidden", path, "Forbidden", detail)

    def too_long(self, path: str, most: int) -> None:
        """Say that a value is too long, without repeating it."""
        unit = "byte" if most == 1 else "bytes"
        self._add("FieldValueTooLong", path, "Too long", f"may not be more than {most} {unit}")

    def too_many(self, path: str, count: int, most: int) -> None:
        """Say that a list has too many items."""
        items = "item" if most == 1 else "items"
        self._add(
            "FieldValueTooMany", path, f"Too many: {count}", f"must have at most {most} {items}"
        )

    def _add(self, kind: str, path: str, what: str, detail: str) -> None:
        self.causes.append(Cause(kind, f"{what}: {detail}" if detail else what, path))


def _with_value(what: str, value: Any) -> str:
    return what if value is OMITTED else f"{what}: {shown(value)}"


def shown(value: Any) -> str:
    """Write a value as messages show it."""
    if isinstance(value, str) and not isinstance(value, Named):
        return quoted(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json_text(value, sort_keys=False)
