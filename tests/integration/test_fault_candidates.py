"""The record of candidates finds two leaders, and a write that came too late."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import cast

import pytest

from reflet.controllers.leader_election import LeaderElection
from tests.faults.candidates import Terms


@dataclass
class Candidate:
    """Somebody who leads when the test says so."""

    identity: str
    is_leading: bool = False


@pytest.fixture
def first() -> Candidate:
    return Candidate("first", is_leading=True)


@pytest.fixture
def second() -> Candidate:
    return Candidate("second")


@pytest.fixture
def terms(first: Candidate, second: Candidate) -> Terms:
    """The second follows the first, at version 10."""
    made = Terms(Counter())
    for each, version in ((first, 1), (second, 10)):
        made.join(cast("LeaderElection", each))
        made.note(each.identity, "/leases/it", answer("Lease", version, holder=each.identity))
    return made


def answer(kind: str, version: int, *, holder: str = "") -> bytes:
    spec = {"holderIdentity": holder} if holder else {}
    metadata = {"resourceVersion": str(version)}
    return json.dumps({"kind": kind, "metadata": metadata, "spec": spec}).encode()


def test_terms_one_after_the_other_are_no_trouble(terms: Terms) -> None:
    terms.look("first")
    terms.note("first", "/configmaps/a", answer("ConfigMap", 9))
    terms.note("second", "/configmaps/a", answer("ConfigMap", 11))
    # A write that changed nothing is answered with the version of before.
    terms.note("second", "/configmaps/b", answer("ConfigMap", 5))

    assert terms.troubles() == []


def test_two_who_lead_at_the_same_time_are_seen(terms: Terms, second: Candidate) -> None:
    second.is_leading = True
    terms.look()

    assert terms.troubles() == ["first and second lead at the same time"]


def test_one_who_writes_while_another_leads_is_seen(terms: Terms) -> None:
    terms.look("second")

    assert terms.troubles() == ["second writes while first leads"]


def test_a_write_that_the_server_took_after_the_next_lease_is_seen(terms: Terms) -> None:
    terms.note("first", "/configmaps/a", answer("ConfigMap", 11))

    assert terms.troubles() == ["first wrote /configmaps/a at 11, second has led since 10"]
