"""What each system has, and the one line that says what is missing."""

from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.runtime import platforms
from reflet.runtime.platforms import (
    LINUX,
    MACOS,
    WINDOWS,
    platform_of,
    require_namespaces,
    require_processes,
)


@pytest.mark.parametrize(
    ("name", "found"), [("linux", LINUX), ("darwin", MACOS), ("win32", WINDOWS)]
)
def test_python_names_a_system_by_its_kernel(name: str, found: platforms.Platform) -> None:
    assert platform_of(name) == found


def test_a_system_that_nobody_tried_is_given_nothing() -> None:
    found = platform_of("freebsd14")

    assert (found.name, found.processes, found.namespaces) == ("freebsd14", False, False)


def test_what_a_mac_lacks_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "HERE", MACOS)

    with pytest.raises(ConfigurationError, match=r"^--isolate needs Linux, and this is macOS$"):
        require_namespaces("--isolate")


def test_processes_run_on_a_mac_and_not_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "HERE", MACOS)
    require_processes("reflet run")
    monkeypatch.setattr(platforms, "HERE", WINDOWS)

    with pytest.raises(ConfigurationError, match="reflet run needs Linux or macOS, and this is W"):
        require_processes("reflet run")
