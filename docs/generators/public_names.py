"""The API reference: the names of the front page, and modules, from their docstrings.

Owns: which directive documents which kind of name.  Must not know any name.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import reflet


def front_page() -> str:
    """Document every name that ``import reflet`` gives."""
    return "\n".join(_in_rst(_front_page()))


def module(name: str) -> str:
    """Document one module: what it owns, then everything public in it.

    A name of the front page is documented there and only named here.
    """
    elsewhere = on_front_page(import_module(name))
    lines = [f".. automodule:: {name}"]
    if elsewhere:
        lines.append(f"   :exclude-members: {', '.join(elsewhere)}")
    text = "\n".join(_in_rst(lines))
    if not elsewhere:
        return text
    named = ", ".join(f"`{found}`" for found in elsewhere)
    return f"{named}: see [the front page](reflet.md).\n\n{text}"


def on_front_page(found: ModuleType) -> list[str]:
    """Which names that a module defines ``import reflet`` gives as well."""
    return [
        name
        for name in reflet.__all__
        if getattr(getattr(reflet, name), "__module__", "") == found.__name__
    ]


def _front_page() -> Iterator[str]:
    for name in reflet.__all__:
        value = getattr(reflet, name)
        if inspect.ismodule(value):
            continue  # a page of its own
        home = getattr(value, "__module__", "reflet")
        if inspect.isclass(value):
            yield from (f".. autoclass:: {home}.{name}", "")
        elif callable(value):
            yield from (f".. autofunction:: {home}.{name}", "")
        else:
            yield from (f".. py:data:: reflet.{name}", f"   :value: {value!r}", "")


def _in_rst(lines: Iterator[str] | list[str]) -> Iterator[str]:
    yield "```{eval-rst}"
    yield from lines
    yield "```"
