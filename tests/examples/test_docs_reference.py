"""The reference cannot drift: what is generated is complete, what is written is checked."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

import reflet
from docs.generators import (
    commands,
    directives,
    error_tree,
    kubeconfig_fields,
    lint_rules,
    metrics,
    public_names,
)
from reflet import errors
from reflet.adapters.prometheus import HELP
from reflet.cli.main import COMMANDS
from reflet.cli.main import reflet as command_line
from reflet.insight.lint.rules import RULES
from tests.examples.pages import DOCS, blocks

SOURCE: Final = Path(reflet.__file__).parent
READ_VARIABLE: Final = re.compile(r'environ(?:ment)?(?:\.get\(|\[)"([A-Z_]{4,})"')
OWN_VARIABLE: Final = re.compile(r'"(REFLET_[A-Z_]+)"')

# Read on behalf of a program that is started, whose business it is; and what stands in front of its
# variables on the way there.
PASSED_ON: Final = {"PATH", "REFLET_SHELTERED_"}


def written_pages() -> list[Path]:
    return [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]


def imported_modules(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reflet."):
            yield str(node.module)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_commands_has_every_flag_of_a_command(name: str) -> None:
    page = commands.markdown()
    command = command_line.get_command(
        click.Context(command_line, **command_line.context_settings), name
    )
    assert command is not None
    section = page.partition(f"## reflet {name}\n")[2].partition("\n## ")[0]

    missing = [
        option.opts[-1]
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
        if option.opts[-1] not in section
    ]

    assert (missing, "Usage: reflet " in section) == ([], True)
    assert f"| [`reflet {name}`](#reflet-{name}) |" in commands.command_list()


def test_the_page_of_metrics_has_every_metric_and_its_kind() -> None:
    page = metrics.markdown()

    assert [name for name in HELP if f"| `{name}` | {metrics.kind(name)} |" not in page] == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("reflet_reflector_lists_total", "counter"),
        ("reflet_pleg_relist_interval_seconds", "histogram"),
        ("reflet_pleg_last_seen_timestamp_seconds", "gauge"),
        ("reflet_handler_behind_seconds", "gauge"),
    ],
)
def test_the_kind_of_a_metric_follows_from_its_name(name: str, kind: str) -> None:
    assert metrics.kind(name) == kind


def test_metrics_are_reported_as_what_their_names_say() -> None:
    reported = re.compile(r'\.(count|gauge|observe)\(\s*"(reflet_[a-z_]+)"')
    kinds = {"count": "counter", "gauge": "gauge", "observe": "histogram"}
    found = {
        (name, kinds[verb])
        for module in SOURCE.rglob("*.py")
        for verb, name in reported.findall(module.read_text())
    }

    assert {(name, kind) for name, kind in found if metrics.kind(name) != kind} == set()
    assert len(found) > 10


def test_the_page_of_errors_has_every_error() -> None:
    page = error_tree.markdown()
    defined = [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.RefletError)
    ]

    assert [name for name in defined if f"| `{name}` |" not in page] == []


def test_the_page_of_errors_says_which_exit_code_follows() -> None:
    rows = error_tree.markdown()

    assert re.search(r"\| `Forbidden` \| .* \| 4 \|", rows)
    assert re.search(r"\| `ConnectionRefused` \| .* \| 3 \|", rows)
    assert re.search(r"\| `ParseError` \| .* \| 2 \|", rows)


def test_the_page_of_settings_has_the_fields_by_the_names_in_the_file() -> None:
    page = kubeconfig_fields.markdown()

    assert all(
        f"`{name}`" in page for name in ("proxy-url", "tokenFile", "as-groups", "apiVersion")
    )


def test_the_page_of_settings_has_every_variable_that_is_read_or_set() -> None:
    page = (DOCS / "reference/settings.md").read_text()
    used = {
        variable
        for module in SOURCE.rglob("*.py")
        for pattern in (READ_VARIABLE, OWN_VARIABLE)
        for variable in pattern.findall(module.read_text())
    }

    assert {variable for variable in used - PASSED_ON if f"`{variable}`" not in page} == set()


def test_the_page_of_rules_leads_to_a_page_for_every_rule() -> None:
    page = lint_rules.markdown()

    assert [rule.id for rule in RULES if f"[{rule.id}](lint/{rule.id}.md)" not in page] == []


def test_the_front_page_of_the_api_has_every_public_name() -> None:
    page = public_names.front_page()
    rooms = {name for name in reflet.__all__ if inspect.ismodule(getattr(reflet, name))}

    missing = [
        name
        for name in set(reflet.__all__) - rooms
        if not re.search(rf"\.{name}$", page, re.MULTILINE)
    ]

    assert missing == []


def test_every_module_that_a_page_imports_from_is_in_the_reference() -> None:
    reference = "\n".join(page.read_text() for page in (DOCS / "reference/api").glob("*.md"))
    documented = set(re.findall(r"^```\{generated\} module (\S+)$", reference, re.MULTILINE))
    homes = {getattr(getattr(reflet, name), "__module__", "") for name in reflet.__all__}
    imported = {
        module
        for page in written_pages()
        for block in blocks(page)
        if block.language == "python"
        for module in imported_modules(block.content)
    }

    assert imported - documented - homes - {"reflet.errors"} == set()


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(DOCS))) for page in written_pages()]
)
def test_what_a_page_asks_for_can_be_generated(page: Path) -> None:
    asked = re.findall(r"^```\{generated\} (\S+)", page.read_text(), re.MULTILINE)

    assert set(asked) <= directives.GENERATORS.keys()


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(DOCS))) for page in written_pages()]
)
def test_python_that_a_page_only_shows_is_good_python(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python" and not block.name:
            exec(compile(block.content, str(page), "exec"), {"__name__": "shown"})
