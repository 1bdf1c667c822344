"""Paths are cleaned without looking at any file system."""

from __future__ import annotations

import pytest

from reflet.gotext.paths import below, clean


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("", "."),
        ("./a//b/", "a/b"),
        ("a/../b", "b"),
        ("a/../../b", "../b"),
        ("../../a", "../../a"),
        ("/..//a/.", "/a"),
        ("/", "/"),
        ("a/..", "."),
    ],
)
def test_a_path_becomes_as_short_as_it_can_be(path: str, cleaned: str) -> None:
    assert clean(path) == cleaned


@pytest.mark.parametrize(
    ("path", "inside"), [("a/b", "a/b"), ("../../etc/passwd", "etc/passwd"), ("/a", "a"), ("", "")]
)
def test_no_path_leads_out_of_its_directory(path: str, inside: str) -> None:
    assert below(path) == inside
