"""One browser for the run, and one line when there is none."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

import pytest

from tests.browser.browsing import Browser, missing_browser

_missing = functools.cache(missing_browser)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip the tests in this folder without a browser, all from this line: one in the summary."""
    reason = _missing()
    if not reason:
        return
    if os.environ.get("CI") == "true":  # CI installs it: a skip would hide a mistake
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The browser: started by the first test that asks for it, shared by all."""
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started
