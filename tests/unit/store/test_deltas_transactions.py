"""What is said of a transaction that was not wholly carried out."""

from __future__ import annotations

from reflet.store.deltas import TransactionError


def test_the_error_counts_what_failed_and_says_why() -> None:
    error = TransactionError([0, 2], 4, [ValueError("one"), ValueError("two")])

    assert str(error) == "failed to execute (2/4) transactions failed due to: [one two]"


def test_the_error_has_the_positions_that_were_carried_out() -> None:
    error = TransactionError([0, 2], 3, [ValueError("one")])

    assert (error.successful, error.total) == ((0, 2), 3)
