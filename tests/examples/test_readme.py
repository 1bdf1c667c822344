"""The front page: what it shows is true, and every job is two clicks away."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import reflet
from reflet import Pod
from reflet.devserver import DevServer
from tests.examples.pages import DOCS, Block, Reader, Step, agrees, blocks, save_files, steps_of

REPOSITORY: Final = DOCS.parent
README: Final = REPOSITORY / "README.md"
LINK: Final = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
ANCHORED: Final = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")

JOBS: Final = (
    *(
        "container's environment",
        "does not start",
        "who uses a ConfigMap or Secret",
        "run a process locally",
        "fail in CI",
        "rights",
        "watch objects",
    ),
    *(
        "install it",
        "collection in memory",
        "exactly what some pods need",
        "environment and files in",
    ),
    *("without an event loop", "pods as processes", "in a cluster"),
    *("Kubernetes API", "test an operator", "Tab", "look up", "what is promised"),
)


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
    """A folder with the files that the page speaks of: the examples, and the tutorial's pod."""
    (folder / "examples").symlink_to(REPOSITORY / "examples")
    save_files(DOCS / "tutorials/run-a-pod-locally.md", folder)
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


def test_the_server_begins_as_the_page_shows(tmp_path: Path) -> None:
    [step] = [
        step
        for block in blocks(README)
        for step in steps_of(Block("console", block.content))
        if step.command.startswith("reflet serve")
    ]
    said = re.sub(r":\d+$", ":…", step.printed, flags=re.MULTILINE).replace(
        "KUBECONFIG=", "KUBECONFIG=…"
    )

    with Reader(surroundings(tmp_path)) as reader:
        printed = reader.do(step.command)

    assert agrees(printed, said), printed


def test_the_five_lines_are_those_of_the_tutorial_which_are_run() -> None:
    [lines] = [block.content for block in python_blocks() if "asyncio.run" in block.content]
    followed = {block.name: block.content for block in blocks(DOCS / "tutorials/first-mirror.md")}

    assert lines == followed["mirror.py"]


async def test_the_lines_for_a_client_work(capsys: pytest.CaptureFixture[str]) -> None:
    [lines] = [block.content for block in python_blocks() if "pods.patch" in block.content]
    container = {"name": "web", "image": "example.com/web"}
    pod = {
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [container]},
    }
    names: dict[str, Any] = {}
    async with DevServer(tls=False) as server:
        kubeconfig = str(server.kubeconfig_path)
        async with reflet.connect(kubeconfig=kubeconfig) as cluster:
            await cluster.resource("namespaces").create({"metadata": {"name": "shop"}})
            await cluster.resource(Pod, namespace="shop").create(pod)
        names["reflet"] = _Connecting(kubeconfig)
        exec(f"async def shown():\n{textwrap.indent(lines, '    ')}", names)

        await asyncio.wait_for(names["shown"](), 30)

    assert capsys.readouterr().out == "web Pending\n"


class _Connecting:
    """``reflet`` on a machine whose kubeconfig names a certain server."""

    def __init__(self, kubeconfig: str) -> None:
        self._kubeconfig = kubeconfig

    def connect(self) -> reflet.Cluster:
        return reflet.connect(kubeconfig=self._kubeconfig)


def test_all_other_lines_of_python_are_python() -> None:
    for block in python_blocks():
        compile(f"async def shown():\n{textwrap.indent(block.content, '    ')}", "README", "exec")


@pytest.mark.parametrize("job", JOBS)
def test_every_job_has_a_row_that_leads_to_a_page(job: str) -> None:
    [row] = [
        line
        for line in README.read_text().splitlines()
        if line.startswith("| ") and job in line.split("|")[1]
    ]

    assert re.search(r"\]\((docs/|#)", row)


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
        for folder in ("tutorials", "how-to", "reference", "explanation")
        for page in (DOCS / folder).glob("*.md")
    }

    far_away = sorted(str(page.relative_to(DOCS)) for page in pages - first - second)

    assert far_away == []


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "reference", "explanation"])
def test_the_index_of_a_folder_names_every_page_in_it(folder: str) -> None:
    index = DOCS / folder / "index.md"

    unnamed = set((DOCS / folder).glob("*.md")) - links_of(index) - {index}

    assert {page.name for page in unnamed} == set()
