"""The reference cannot drift: what is generated is complete, what is written is checked."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Final

import click
import pytest

import reflet
from docs.generators import (
    __main__ as reference,
)
from docs.generators import (
    api_pages,
    commands,
    docstrings,
    error_tree,
    kubeconfig_fields,
    lint_rules,
    metrics,
    parameters,
    rooms,
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


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in reference.pages()])
def test_what_is_generated_in_a_page_is_what_the_code_says_now(page: Path) -> None:
    text = page.read_text()

    assert reference.written(text) == text, f"out of date: run {reference.COMMAND}"


def test_a_wish_that_nothing_generates_is_refused() -> None:
    with pytest.raises(LookupError, match="nothing generates 'wishes'"):
        reference.written("<!-- generated: wishes -->\n<!-- end of generated -->")


def test_every_room_is_generated_on_its_page() -> None:
    wishes = {
        (name, str(page.relative_to(reference.REFERENCE)))
        for page in reference.pages()
        for name in re.findall(r"^<!-- generated: room (\S+) -->$", page.read_text(), re.MULTILINE)
    }

    assert wishes == {
        (room, page) for room, page in rooms.ROOMS.items() if room != rooms.FRONT_PAGE
    }


@pytest.mark.parametrize("room", rooms.ROOMS)
def test_every_public_name_of_a_room_has_a_place_in_the_reference(room: str) -> None:
    missing = []
    for name in rooms.names_of(room):
        if rooms.is_room_inside(f"{room}.{name}"):
            continue  # it has a page of its own
        page = (reference.REFERENCE / rooms.page_of(name, room)).read_text()
        if not re.search(rf"^### `?{name}`?$", page, re.MULTILINE):
            missing.append(name)

    assert missing == []


def test_a_class_is_shown_with_fields_constructor_and_methods() -> None:
    page = api_pages.room("reflet.pleg")
    section = page.partition("\n### StatusCache\n")[2].partition("\n### ")[0]

    assert (
        "```py\nclass StatusCache:\n    on_wait: Callable[[str], None]\n\n"
        "StatusCache(*, ignore_older: bool = False)\n```"
    ) in section
    assert "\nwaiting: int\n" in section
    assert "\n#### StatusCache.newer_than\n" in section
    assert (
        "class Inspection:\n    status: RuntimeStatus\n    error: Exception | None = None" in page
    )


def test_parameters_are_shown_with_type_default_and_meaning() -> None:
    section = api_pages.front_page().partition("\n### connect\n")[2]

    assert (
        '| `namespace` | `str` | `""` | *namespace* is used where a call names none. |' in section
    )


def test_options_that_are_passed_on_are_shown_where_they_are_taken() -> None:
    section = api_pages.front_page().partition("\n#### Cluster.mirror\n")[2].partition("\n### ")[0]

    assert (
        "| `label_selector` | `LabelSelector \\| str` |  | Only objects whose labels match. |"
        in (section)
    )
    assert "| `page_size` | `int` |" in section


def test_a_sentence_about_several_parameters_is_shown_once() -> None:
    rows = [
        parameters.Row(name, "int", "", parameters.meaning(name, "Add.\n\n*a* and *b* are added."))
        for name in ("a", "b")
    ]

    assert list(parameters.table(rows, "parameter"))[3:] == [
        "| `a` | `int` |  | *a* and *b* are added. |",
        "| `b` | `int` |  | see `a` |",
    ]


def test_no_name_is_documented_twice_and_no_internal_header_is_shown() -> None:
    pages = [page.read_text() for page in sorted((reference.REFERENCE / "api").glob("*.md"))]
    names = [name for page in pages for name in re.findall(r"^#### (.+)$", page, re.MULTILINE)]
    leaks = [text for text in ("Owns:", "Must not", "Upstream:") for page in pages if text in page]

    assert sorted(names) == sorted(set(names))
    assert leaks == []


def test_what_a_private_class_gives_is_shown_where_it_is_inherited() -> None:
    section = api_pages.room("reflet.api").partition("\n### ListOptions\n")[2]

    assert "label_selector: LabelSelector | str" in section.partition("\n### ")[0]


def test_a_docstring_becomes_markdown() -> None:
    text = """Give ``it``.

    Like this::

        it = give()

    and ::

        ├── a tree
    """

    assert docstrings.markdown(text) == (
        "Give `it`.\n\nLike this:\n\n```py\nit = give()\n```\n\nand:\n\n```text\n├── a tree\n```"
    )
    assert docstrings.summary("Give ``a | b``\nnow.\n\nMore.") == "Give `a \\| b` now."


def test_the_page_of_rights_has_every_command() -> None:
    table = (DOCS / "how-to/what-each-command-needs.md").read_text().partition("## Rights")[2]
    named = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", table.partition("\n## ")[0], re.MULTILINE)
        for name in re.findall(r"`([\w-]+)`", row)
    }

    assert named == set(COMMANDS)


def test_messages_that_the_page_on_troubleshooting_quotes_are_in_the_code() -> None:
    page = (DOCS / "how-to/troubleshooting.md").read_text()
    symptoms = "\n".join(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE))
    code = "".join(module.read_text() for module in SOURCE.rglob("*.py"))
    # Up to what differs from case to case; others' words are left out.
    quoted = {
        re.split(r" [\"…]|…", text)[0]
        for text in re.findall(r"`([a-z‹][^`\n]* [^`\n]*)`", symptoms)
        if text != "certificate verify failed"
    }

    assert {text for text in quoted if text not in code and "13 B" not in text} == set()
    assert len(quoted) > 5


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(DOCS))) for page in written_pages()]
)
def test_python_that_a_page_only_shows_is_good_python(page: Path) -> None:
    for block in blocks(page):
        if block.language == "python" and not block.name:
            exec(compile(block.content, str(page), "exec"), {"__name__": "shown"})
