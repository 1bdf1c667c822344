"""``reflet crd to-python``: a module on standard output, or one line about what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.api.yaml.text import write_yaml_documents
from reflet.cli.main import run
from tests.unit.insight.test_custom_structs import definition

Written = tuple[int, str, str]


@pytest.fixture
def to_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    path = tmp_path / "crd.yaml"

    def to_python(*documents: Any, arguments: tuple[str, ...] = ()) -> Written:
        path.write_text(write_yaml_documents(documents))
        code = run(["reflet", "crd", "to-python", "-f", str(path), *arguments])
        return code, *capsys.readouterr()

    return to_python


def test_the_definitions_of_a_file_become_a_module(to_python: Any) -> None:
    code, output, errors = to_python({"apiVersion": "v1", "kind": "Namespace"}, definition())

    assert (code, errors) == (0, "")
    assert output.startswith('"""Written by `reflet crd to-python` from widgets.example.com')
    assert "class Widget(TypedObject, frozen=True, kw_only=True):" in output


def test_one_version_can_be_asked_for(to_python: Any) -> None:
    _, output, _ = to_python(definition("v1", "v2"), arguments=("--version", "v2"))

    assert 'api_version: Literal["example.com/v2"]' in output
    assert "WidgetV2" not in output


@pytest.mark.parametrize(
    ("document", "arguments", "message"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, (), "has no CustomResourceDefinition"),
        (definition(), ("--version", "v9"), "has no version 'v9': it has v1"),
        (definition(names=1), (), "the CustomResourceDefinition is not whole"),
        ([1], (), "expected an object with apiVersion and kind"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    to_python: Any, document: Any, arguments: tuple[str, ...], message: str
) -> None:
    code, output, errors = to_python(document, arguments=arguments)

    assert (code, output) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "crd", "to-python"]) == 2

    assert "Missing option '-f'" in capsys.readouterr().err


def test_a_definition_without_a_name_is_written_too(to_python: Any) -> None:
    code, output, _ = to_python({**definition(), "metadata": None})

    assert (code, "from a CustomResourceDefinition:" in output) == (0, True)
