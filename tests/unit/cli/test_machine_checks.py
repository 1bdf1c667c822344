"""The looks at a machine one by one; the command that prints them is ``test_doctor``."""

from __future__ import annotations

import pytest

from reflet.cli.machine_checks import machine_checks
from reflet.processes import isolation_check
from reflet.transport.config.kubeconfig import NotConfigured
from reflet.transport.config.settings import ConnectionSettings


def nobody() -> ConnectionSettings:
    raise NotConfigured("no cluster is configured: nothing was looked at")


def test_everything_that_is_not_as_it_should_be_has_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation_check, "why_not_isolated", lambda: "no")
    monkeypatch.setenv("PATH", "")

    found = list(machine_checks(nobody))
    assert [check.name for check in found if check.state != "ok" and not check.fix] == []
    assert [check.name for check in found if check.state == "ok" and check.fix] == []


def test_nothing_is_left_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation_check, "why_not_isolated", lambda: None)
    memory = next(check for check in machine_checks(nobody) if check.name == "memory")

    assert "reflet-" not in memory.detail
