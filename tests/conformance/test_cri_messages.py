"""Our messages beside the original: names, numbers and types of every field that we have.

The original is ``api.proto`` of k8s.io/cri-api, found where Go keeps modules: building containerd
or the API server puts it there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Final

import pytest

from reflet.cri.messages import containers, images, isolation, sandboxes, service
from reflet.cri.wire import CriMessage, Field, WireForm, fields_of

MODULES: Final = Path(os.environ.get("GOMODCACHE") or Path.home() / "go/pkg/mod")
FOUND: Final[list[Path | None]] = [
    *sorted(MODULES.glob("k8s.io/cri-api@*/pkg/apis/runtime/v1/api.proto"))
]
CLASSES: Final = sorted(
    {
        each
        for module in (containers, images, isolation, sandboxes, service)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, CriMessage | IntEnum)
        if each.__module__ == module.__name__
    },
    key=lambda each: each.__name__,
)
DECLARED: Final = re.compile(
    r"^\s*(repeated )?(map<string, ?string>|\w+)\s+(\w+)\s*=\s*(\d+)", re.MULTILINE
)
OTHER_NAMES: Final = {"uid_mappings": "uidMappings", "gid_mappings": "gidMappings"}


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Each message and enum of a file, with what is declared in it, those inside others too."""
    for match in re.finditer(r"\b(?:message|enum)\s+(\w+)\s*\{", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        inside = text[match.end() : end - 1]
        yield match[1], re.sub(r"\b(?:message|enum)\s+\w+\s*\{[^}]*\}", "", inside)


@pytest.fixture(scope="module", params=FOUND or [None], ids=lambda path: str(path)[-60:])
def original(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param is None:
        pytest.skip("no k8s.io/cri-api in Go's module cache: make containers brings it")
    text = re.sub(r"//.*", "", request.param.read_text())
    return dict(blocks(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))


def type_name(field: Field) -> str:
    if field.form is WireForm.MAP:
        return "map<string,string>"
    return field.type if isinstance(field.type, str) else field.type.__name__


@pytest.mark.parametrize("kind", CLASSES, ids=lambda each: each.__name__)
def test_a_message_has_the_fields_of_the_original(
    original: dict[str, str], kind: type[CriMessage | IntEnum]
) -> None:
    body = original[kind.__name__]
    if issubclass(kind, IntEnum):
        assert [each.value for each in kind] == [
            int(number) for number in re.findall(r"=\s*(\d+)", body)
        ]
        return
    declared = {
        name: (int(number), type_.replace(" ", ""), bool(repeated) or type_.startswith("map"))
        for repeated, type_, name, number in DECLARED.findall(body)
    }
    ours = {
        OTHER_NAMES.get(field.name, field.name): (field.number, type_name(field), field.repeated)
        for field in fields_of(kind)
    }

    assert {name: declared.get(name) for name in ours} == ours


def test_names_of_states_are_those_of_the_original(original: dict[str, str]) -> None:
    names = [f"CONTAINER_{each.name}" for each in containers.ContainerState]

    assert names == re.findall(r"(\w+)\s*=", original["ContainerState"])
