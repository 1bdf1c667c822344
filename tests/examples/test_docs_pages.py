"""Every page of the documentation does what it says, from its first command to its last."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.examples.pages import DOCS, blocks, disagreements, steps
from tests.node_scenes import can_isolate

HERE: Final = Path(__file__).parent

# Pages that are followed elsewhere, because they need more than somebody who types commands.
FOLLOWED_BY: Final = {
    **{
        str(page.relative_to(DOCS)): "test_tutorials.py"
        for page in (DOCS / "tutorials").glob("*.md")
        if page.name != "index.md"
    },
    "how-to/development-server.md": "test_docs_devserver.py",
    "how-to/test-with-the-server.md": "test_docs_devserver.py",
    "how-to/use-the-managers.md": "test_docs_managers.py",
}

PAGES: Final = sorted(
    str(page.relative_to(DOCS))
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts and any(steps(page))
)


@pytest.mark.skipif(
    shutil.which("kubectl") is None and os.environ.get("CI") != "true",
    reason="kubectl is not installed",
)
@pytest.mark.story
@pytest.mark.time_limit(240)
@pytest.mark.parametrize("page", [page for page in PAGES if page not in FOLLOWED_BY])
def test_a_reader_who_follows_the_page_sees_what_it_shows(page: str, tmp_path: Path) -> None:
    if "reflet node" in (DOCS / page).read_text() and not can_isolate():
        pytest.skip("containers cannot be isolated here")
    assert "\n".join(disagreements(DOCS / page, tmp_path)) == ""


@pytest.mark.parametrize("page", [page for page in PAGES if page not in FOLLOWED_BY])
def test_every_program_that_a_page_lets_the_reader_save_is_used(page: str) -> None:
    found = list(blocks(DOCS / page))
    programs = {block.name for block in found if block.name.endswith(".py")}
    # pytest finds its own.
    looked_for = {
        name
        for name in programs
        if not name.startswith("test_")
        if not any(Path(name).stem in block.content for block in found if block.name != name)
    }

    assert looked_for == set()


@pytest.mark.parametrize(("page", "test"), FOLLOWED_BY.items())
def test_a_page_that_is_followed_elsewhere_is_named_there(page: str, test: str) -> None:
    assert Path(page).name in (HERE / test).read_text() or "tutorials" in test
    assert any(blocks(DOCS / page))
