"""Every tutorial, followed in as many terminals as it says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.examples.pages import DOCS
from tests.examples.terminals import disagreements, terminals_needed
from tests.node_scenes import can_isolate

TUTORIALS: Final = sorted(
    page.name for page in (DOCS / "tutorials").glob("*.md") if page.name != "index.md"
)

SERVES: Final = """You need two terminals in one folder.

In the first terminal:

```console
$ sleep 60  # leave it running
```

{then}

```console
$ echo "$COLOR"
{printed}
```

{stop}
"""


@pytest.mark.skipif(
    shutil.which("kubectl") is None and os.environ.get("CI") != "true",
    reason="kubectl is not installed",
)
@pytest.mark.story
@pytest.mark.time_limit(240)
@pytest.mark.parametrize("page", TUTORIALS)
def test_a_reader_with_that_many_terminals_sees_what_the_tutorial_shows(
    page: str, tmp_path: Path
) -> None:
    tutorial = DOCS / "tutorials" / page
    if "reflet node" in tutorial.read_text() and not can_isolate():
        pytest.skip("containers cannot be isolated here")

    assert "\n".join(disagreements(tutorial, tmp_path)) == ""


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_says_how_many_terminals_it_takes(page: str) -> None:
    assert terminals_needed((DOCS / "tutorials" / page).read_text())


@pytest.mark.parametrize(
    ("then", "stop", "complaint"),
    [
        ("In the second terminal:", "Press Ctrl-C in the first.", ""),
        ("And now:", "Press Ctrl-C in the first.", "the terminal is busy"),
        ("In the second terminal:", "That is all.", "does not say how to stop the first"),
    ],
)
def test_what_a_page_forgets_to_say_is_found(
    then: str, stop: str, complaint: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(SERVES.format(then=then, printed="", stop=stop))

    found = "\n".join(disagreements(page, tmp_path))

    assert (complaint in found) is True
    assert bool(found) is bool(complaint)


def test_what_is_exported_in_one_terminal_is_not_there_in_another(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    exported = "In the second terminal:\n\n```console\n$ export COLOR=blue\n```\n\n"
    page.write_text(
        SERVES.format(
            then=f"{exported}Again, in the first terminal after Ctrl-C:", printed="blue", stop=""
        )
    )

    assert "first terminal $ echo" in "\n".join(disagreements(page, tmp_path))
