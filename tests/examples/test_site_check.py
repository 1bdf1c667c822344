"""The check of the built documentation finds links that lead nowhere, and nothing else."""

from __future__ import annotations

from pathlib import Path

from docs.generators.site_check import broken_links


def site(folder: Path, body: str) -> Path:
    (folder / "a.html").write_text(f"<html><body>{body}</body></html>")
    (folder / "b.html").write_text('<h1 id="there">B</h1>')
    (folder / "picture.svg").write_text("<svg/>")
    return folder


def test_links_inside_the_site_and_to_other_sites_are_fine(tmp_path: Path) -> None:
    body = (
        '<h1 id="here">A</h1><a href="#here">1</a><a href="b.html#there">2</a>'
        '<a href="b.html">3</a>'
        '<img src="picture.svg?v=1"><a href="https://example.com/x.html#y">4</a>'
    )

    assert list(broken_links(site(tmp_path, body))) == []


def test_a_missing_page_a_missing_heading_and_a_missing_picture_are_named(tmp_path: Path) -> None:
    body = '<a href="c.html">1</a><a href="b.html#gone">2</a><img src="gone.svg">'

    assert list(broken_links(site(tmp_path, body))) == [
        "a.html links to b.html#gone",
        "a.html links to c.html",
        "a.html links to gone.svg",
    ]
