"""The README: what it shows is true, and the answers to a newcomer's questions are near."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.examples.pages import DOCS, STAYS, Block, Reader, Step, agrees, blocks, steps_of

REPOSITORY: Final = DOCS.parent
README: Final = REPOSITORY / "README.md"
LINK: Final = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
ANCHORED: Final = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")

# Questions of a newcomer, and what the page that answers them says.
QUESTIONS: Final = {
    "How do I install it?": ("how-to/install.md", "pip install"),
    "Does it run on my Mac?": ("how-to/install.md", "macOS"),
    "Why does my pod not start?": ("how-to/find-out-why.md", "reflet why deploy/web"),
    "Who still has the old password?": ("how-to/find-old-values.md", "reflet stale"),
    "Which rights does it need?": ("how-to/what-each-command-needs.md", "## Rights"),
    "How do I fail a pull request?": ("how-to/lint-in-ci.md", "exit code"),
    "Mirror, informer or manager?": ("how-to/choose-an-api.md", "cluster.mirror"),
    "Does the mirror survive a restart?": ("explanation/consistency.md", "restart"),
    "How do I test my operator?": ("tutorials/test-your-operator.md", "reflet_server"),
    "What does Forbidden mean?": ("how-to/troubleshooting.md", "403"),
    "Why not mirrord?": ("../README.md", "mirrord"),
    "Which flag was it?": ("reference/commands.md", "--namespace"),
}


def python_blocks() -> list[Block]:
    return [block for block in blocks(README) if block.language == "python"]


def offline_steps() -> Iterator[Step]:
    """The commands of the page that need no cluster and end by themselves."""
    for block in blocks(README):
        shown = Block("console", block.content) if not block.language else block
        for step in steps_of(shown):
            if re.match(r"reflet (?!serve|run)", step.command) and " -f " in step.command:
                yield step


def surroundings(folder: Path) -> Path:
    """A folder with the files that the page speaks of."""
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    return folder


def anchors(page: Path) -> set[str]:
    """The headings of a page as code hosts, and Sphinx as we set it up, make links of them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)
    }


def links_of(page: Path) -> set[Path]:
    """The pages that a page links to, as files."""
    targets = {
        (page.parent / found[1]).resolve()
        for found in LINK.finditer(page.read_text())
        if "://" not in found[1]
    }
    return {target / "README.md" if target.is_dir() else target for target in targets}


def clicks_to(answer: Path) -> int:
    """How many links are followed from the README to a page, at the least."""
    reached, clicks = {README}, 0
    while answer not in reached:
        further = {target for page in reached if page.suffix == ".md" for target in links_of(page)}
        assert further - reached, f"no way leads to {answer}"
        reached, clicks = reached | further, clicks + 1
    return clicks


@pytest.mark.parametrize("step", [pytest.param(step, id=step.command) for step in offline_steps()])
def test_a_command_prints_what_the_page_shows(step: Step, tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
    }

    printed = subprocess.run(
        ["bash", "-c", step.command],
        cwd=surroundings(tmp_path),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    ).stdout

    assert agrees(printed, step.printed), printed


@pytest.mark.time_limit(120)
def test_the_process_runs_and_restarts_as_the_page_shows(tmp_path: Path) -> None:
    [step] = [
        step
        for block in blocks(README)
        for step in steps_of(Block("console", block.content))
        if step.command.startswith("reflet run")
    ]
    first, _, then = step.printed.partition("reflet: changed")
    first = f"…{first}"  # a terminal is told more
    manifest = (REPOSITORY / "examples/web/web.yaml").read_text()
    (tmp_path / "examples/web").mkdir(parents=True)
    file = tmp_path / "examples/web/web.yaml"
    file.write_text(manifest)

    with Reader(tmp_path) as reader:
        began = reader.follow(Step(f"{step.command}  {STAYS}", first))
        file.write_text(manifest.replace("color: blue", "color: red"))
        went_on = reader.follow(Step("", f"reflet: changed{then}"))

    assert agrees(began, first), began
    assert agrees(went_on, f"reflet: changed{then}"), went_on


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"\bexamples/[\w./-]+\w", README.read_text()))

    assert {name for name in named if not (REPOSITORY / name).exists()} == set()
    assert len(named) > 2


def test_the_mirror_is_that_of_the_tutorial_which_is_run() -> None:
    [lines] = [block.content for block in python_blocks() if "asyncio.run" in block.content]
    followed = {block.name: block.content for block in blocks(DOCS / "tutorials/first-mirror.md")}

    assert lines == followed["mirror.py"]


def test_all_other_lines_of_python_are_python() -> None:
    for block in python_blocks():
        compile(f"async def shown():\n{textwrap.indent(block.content, '    ')}", "README", "exec")


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_to_a_question_is_at_most_two_clicks_away(question: str) -> None:
    page, words = QUESTIONS[question]
    answer = (DOCS / page).resolve()

    assert words in answer.read_text()
    assert clicks_to(answer) <= 2


def test_no_link_leads_nowhere() -> None:
    pages = [README, REPOSITORY / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    broken = [
        f"{page.relative_to(REPOSITORY)} links to {target}"
        for page in pages
        if "_build" not in page.parts
        for target in sorted(links_of(page))
        if not target.exists()
    ]

    assert broken == []


def test_no_link_leads_to_a_heading_that_is_not_there() -> None:
    pages = [README, REPOSITORY / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    broken = [
        f"{page.relative_to(REPOSITORY)} links to {found[0]}"
        for page in pages
        if "_build" not in page.parts
        for found in ANCHORED.finditer(page.read_text())
        if "://" not in found[1]
        if found[2] not in anchors((page.parent / found[1]) if found[1] else page)
    ]

    assert broken == []


def test_every_page_is_two_clicks_away() -> None:
    first = {page for page in links_of(README) if page.suffix == ".md" and page.exists()}
    second = {target for page in first for target in links_of(page)}
    pages = {
        page
        for folder in ("tutorials", "how-to", "reference", "explanation", "performance")
        for page in (DOCS / folder).glob("*.md")
    }

    far_away = sorted(str(page.relative_to(DOCS)) for page in pages - first - second)

    assert far_away == []


@pytest.mark.parametrize(
    "folder", ["tutorials", "how-to", "reference", "explanation", "performance"]
)
def test_the_index_of_a_folder_names_every_page_in_it(folder: str) -> None:
    index = DOCS / folder / "index.md"

    unnamed = set((DOCS / folder).glob("*.md")) - links_of(index) - {index}

    assert {page.name for page in unnamed} == set()


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "explanation", "performance"])
def test_a_page_has_one_title_in_the_index_and_in_the_sidebar(folder: str) -> None:
    """Both sidebar and page show the heading; the index must call it the same."""
    index = (DOCS / folder / "index.md").read_text()
    titles = {
        name: (DOCS / folder / name).read_text().partition("\n")[0].removeprefix("# ")
        for name in re.findall(r"\]\(([\w-]+\.md)\)", index)
    }

    wrong = {
        name: title
        for name, title in titles.items()
        if f"| [{title}]({name}) |" not in index and f"[{title}]({name})" not in index
    }

    assert wrong == {}


def test_no_page_is_twice_in_the_sidebar() -> None:
    entries = [
        (page.parent / f"{line.strip()}.md").resolve()
        for page in DOCS.rglob("*.md")
        if "_build" not in page.parts
        for tree in re.findall(
            r"^```{toctree}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        )
        for line in tree.splitlines()
        if line.strip() and not line.startswith(":") and "*" not in line
    ]

    assert sorted(entries) == sorted(set(entries))
    assert [page for page in entries if not page.is_file()] == []
