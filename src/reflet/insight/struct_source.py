"""Structs as Python source: a module that passes strict type checks and is not reformatted."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from reflet.errors import ConfigurationError
from reflet.insight.custom_structs import ABSENT, StructClass, StructField, literal

SHORTEST, LONGEST = 20, 90  # characters of a description
HEAD: Final = '''\
"""Written by `reflet crd to-python` from {source}: change that, and write this again."""
# fmt: off
# ruff: noqa
'''
IMPORTS: Final = (
    (("collections.abc", "Mapping"), ("typing", "Any ClassVar Literal")),
    (("msgspec", "field"),),
    (("reflet.api", "Frozen ObjectMeta Time TypedObject constant"),),
)
_TEXT: Final = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


def source_of(classes: Iterable[StructClass], source: str) -> str:
    """The text of a module with *classes*; *source* is what they were made from.

    ConfigurationError when two of them have the same name.
    """
    found = list(classes)
    for name, times in Counter(each.name for each in found).items():
        if times > 1:
            raise ConfigurationError(f"several classes would be called {name}: write two modules")
    body = "".join(f"\n\n{_class(each)}" for each in found)
    return HEAD.format(source=source) + "".join(_imports(found)) + body


def _imports(classes: list[StructClass]) -> Iterator[str]:
    words = set(re.findall(r"\w+", " ".join(map(_bare, classes))))
    if any(each.identity for each in classes):
        words |= {"Literal", "ObjectMeta", "TypedObject", "constant"}
    if any(each.complete for each in classes):
        words.add("ClassVar")
    if any(each.identity is None for each in classes):
        words.add("Frozen")
    if any(each.default not in ("", *ABSENT) for item in classes for each in item.fields):
        words.add("constant")
    if any(each.is_renamed for item in classes for each in item.fields):
        words.add("field")
    for block in IMPORTS:
        lines = [
            f"from {module} import {', '.join(used)}\n"
            for module, names in block
            if (used := [name for name in names.split() if name in words])
        ]
        if lines:
            yield "".join(["\n", *lines])


def _bare(made: StructClass) -> str:
    """What its annotations name, without the texts of their Literals."""
    return " ".join(_TEXT.sub("", each.annotation) for each in made.fields)


def _class(made: StructClass) -> str:
    base = "Frozen" if made.identity is None else "TypedObject"
    lines = [f"class {made.name}({base}, frozen=True, kw_only=True):"]
    about = shortened(made.description)
    if not about and made.identity is not None:
        about = f"{made.identity[1]} of {made.identity[0]}."
    if about:
        lines += [f'    """{about}"""', ""]
    if made.identity is not None:
        api_version, kind = map(literal, made.identity)
        if made.complete:
            lines += ["    complete: ClassVar[bool] = True", ""]
        lines += [
            f"    api_version: Literal[{api_version}] = constant({api_version})",
            f"    kind: Literal[{kind}] = constant({kind})",
            "    metadata: ObjectMeta = ObjectMeta()",
        ]
    for each in made.fields:
        lines += _field(each)
    return "\n".join(lines) + "\n"


def _field(made: StructField) -> Iterator[str]:
    default = {"": "", **{text: f" = {text}" for text in ABSENT}}.get(
        made.default, f" = constant({made.default})"
    )
    if made.is_renamed:
        given = {
            "": "",
            "{}": "default_factory=dict, ",
            "()": "default=(), ",
            "None": "default=None, ",
        }.get(made.default, f"default_factory=lambda: {made.default}, ")
        default = f" = field({given}name={literal(made.json_name)})"
    yield f"    {made.name}: {made.annotation}{default}"
    about = shortened(made.description)
    if about:
        yield f'    """{about}"""'


def shortened(description: str) -> str:
    """The first sentence of a description, on one line, harmless inside a docstring."""
    text = " ".join(description.split()).replace("\\", "/").replace('"', "'")
    sentences = _SENTENCE.split(text)
    first = sentences.pop(0)
    while sentences and len(first) < SHORTEST:
        first += f" {sentences.pop(0)}"
    return textwrap.shorten(first, LONGEST, placeholder=" …")
