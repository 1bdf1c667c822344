"""What comes from others: its licence is one that we accept, and known flaws are reported."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import audit

REPOSITORY: Final = Path(__file__).parents[2]

# What may be installed with Reflet, and what its makers call it.
PERMISSIVE: Final = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0"),
        *("PSF-2.0", "Apache 2.0", "Apache Software License", "BSD License", "MIT License"),
        *("BSD 2-Clause License", "Python Software Foundation License"),
    }
)
# Changes to their own files are to be published; we make none.
WEAK_COPYLEFT: Final = frozenset({"MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"})
TOOLS: Final = {
    "codespell": "GPL-2.0: a program that reads our pages; nothing imports or ships it",
    "docutils": "public domain but for a few files of which none is used; builds the pages",
}


def pinned(lock: str) -> list[str]:
    text = (REPOSITORY / "requirements" / lock).read_text()
    return sorted(set(re.findall(r"^([a-z0-9][\w.-]*)==", text, re.MULTILINE | re.IGNORECASE)))


def licences(package: str) -> set[str]:
    """The names of the licences: one expression, or what classifiers and the old field say."""
    about = metadata.metadata(package)
    for expression in about.get_all("License-Expression") or ():
        return set(re.split(r" AND | OR |[()]", expression)) - {""}
    classifiers = about.get_all("Classifier") or []
    named = {text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")}
    return named or set(about.get_all("License") or ["none"])


def is_here(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False  # pinned for another platform or version of Python
    return True


def requirements(package: str, extras: set[str]) -> list[Requirement]:
    """What the package requires on this machine, with what its *extras* add."""
    found = [Requirement(each) for each in metadata.requires(package) or ()]
    return [
        each
        for each in found
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("dev.lock", metadata.metadata("reflet").get_all("Provides-Extra") or []),
        ("image.lock", []),
        ("release.lock", ["cel", "devserver"]),
    ],
)
def test_a_lock_is_complete_so_nothing_else_is_looked_for(lock: str, extras: list[str]) -> None:
    pins = {canonicalize_name(name) for name in pinned(lock)}
    asked: dict[str, set[str]] = {"reflet": set(extras)} | {name: set() for name in pins}
    left = [name for name in asked if is_here(name)]

    while left:
        for each in requirements(name := left.pop(), asked[name]):
            required = canonicalize_name(each.name)
            assert required in pins, f"{name} requires {each}"
            if not each.extras <= asked[required]:
                asked[required] |= each.extras
                left.append(required)


@pytest.mark.parametrize("package", pinned("image.lock"))
def test_what_is_installed_with_reflet_has_a_permissive_licence(package: str) -> None:
    if not is_here(package):
        pytest.skip("not for this platform")
    assert licences(package) <= PERMISSIVE


@pytest.mark.parametrize("package", pinned("dev.lock"))
def test_what_it_takes_to_work_on_reflet_has_a_licence_that_we_accept(package: str) -> None:
    if package in TOOLS or not is_here(package):
        return
    assert licences(package) <= PERMISSIVE | WEAK_COPYLEFT


def test_every_exception_is_still_needed() -> None:
    assert sorted(TOOLS) == [name for name in TOOLS if name in pinned("dev.lock")]
    assert [name for name in TOOLS if name in pinned("image.lock")] == []


def dependency(name: str, *flaws: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": list(flaws)}


MISSING: Final = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("dependencies", "code", "lines"),
    [
        ([], 0, ["the service with advisories cannot be reached: nothing was looked up"]),
        ([MISSING], 0, ["the service with advisories cannot be reached: nothing was looked up"]),
        ([dependency("a"), dependency("b")], 0, ["no known vulnerability in 2 packages"]),
        (
            [dependency("a"), MISSING],
            0,
            ["not looked up: c", "no known vulnerability in 1 packages"],
        ),
        (
            [dependency("a", {"id": "X-1", "fix_versions": ["1.1"]}, {"id": "X-2"})],
            1,
            [
                "a 1.0 has X-1: fixed in 1.1; run make lock",
                "a 1.0 has X-2: no version fixes it yet",
            ],
        ),
    ],
    ids=["no network", "a mirror without advisories", "all well", "one unknown", "two flaws"],
)
def test_an_audit_says_what_was_found_and_what_was_not_looked_up(
    dependencies: list[dict[str, Any]], code: int, lines: list[str]
) -> None:
    assert audit.verdict({"dependencies": dependencies}) == (code, lines)
