"""The pages about why, used-by, lint and rbac do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.pages import disagreements

pytestmark = pytest.mark.story


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("page", ["find-out-why.md", "lint-in-ci.md", "minimal-rights.md"])
def test_the_page_shows_what_is_printed(page: str, tmp_path: Path) -> None:
    assert "\n".join(disagreements(page, tmp_path)) == ""
