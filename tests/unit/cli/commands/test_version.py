"""``reflet version``: what runs here and what answers there."""

from __future__ import annotations

import json

import pytest

from reflet._version import __version__
from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet

SERVER = {"gitVersion": "v1.36.0", "platform": "linux/amd64", "goVersion": "go1.26"}


def test_both_versions_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedApi({"/version": SERVER}).serving() as api:
        assert reflet(api, "version") == 0

    assert capsys.readouterr().out == f"Reflet: {__version__}\nServer: v1.36.0\n"


@pytest.mark.parametrize(("form", "beginning"), [("json", "{"), ("yaml", "clientVersion:")])
def test_programs_get_a_document(
    capsys: pytest.CaptureFixture[str], form: str, beginning: str
) -> None:
    with ScriptedApi({"/version": SERVER}).serving() as api:
        assert reflet(api, "version", "-o", form) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(beginning)
    if form == "json":
        assert json.loads(shown) == {
            "clientVersion": {"version": __version__},
            "serverVersion": {"version": "v1.36.0", "platform": "linux/amd64"},
        }


@pytest.mark.parametrize("form", ["text", "json", "yaml"])
def test_our_own_version_needs_no_server(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert run(["reflet", "version", "--client", "-o", form]) == 0

    shown = capsys.readouterr().out
    assert __version__ in shown
    assert "erver" not in shown.replace("clientVersion", "")
