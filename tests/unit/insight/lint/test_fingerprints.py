"""A finding is the same finding when lines shift."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.insight.lint.fingerprints import fingerprints
from reflet.insight.lint.rules import MISSING_KEY, REFUSED, Finding


def finding(message: str = "no key", **facts: Any) -> Finding:
    return Finding(
        rule=facts.pop("rule", MISSING_KEY),
        message=message,
        file=facts.pop("file", "a.yaml"),
        line=facts.pop("line", 7),
        subject=facts.pop("subject", "Pod shop/web"),
        **facts,
    )


def print_of(one: Finding) -> str:
    (found,) = fingerprints([one])
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (finding(line=7), finding(line=70)),
        (finding(path="spec.containers[0].env[3]"), finding(path="spec.containers[1].env[4]")),
        (finding("also in b.yaml:12"), finding("also in b.yaml:13")),
        (finding("58 optional keys are not set"), finding("57 optional keys are not set")),
        (finding("no key a; it has b, c"), finding("no key a; it has b")),
        (finding('p: Invalid value: "a\\"b": no'), finding('p: Invalid value: "c": no')),
        (finding("p: Invalid value: 70000: no"), finding("p: Invalid value: 70001: no")),
        (finding(fix="x"), finding(fix="y")),
    ],
)
def test_what_moves_does_not_count(before: Finding, after: Finding) -> None:
    assert print_of(before) == print_of(after)


@pytest.mark.parametrize(
    "other",
    [
        finding(rule=REFUSED),
        finding(file="b.yaml"),
        finding(subject="Pod shop/web-2"),
        finding(path="spec"),
        finding("no key color"),
    ],
)
def test_what_makes_a_finding_counts(other: Finding) -> None:
    assert print_of(other) != print_of(finding())


@pytest.mark.parametrize("name", ["web{}", "web-{}", "v1.{}", "a/{}", "{}-web", "{}.web", "{}/a"])
def test_numbers_that_are_part_of_a_name_count(name: str) -> None:
    messages = (f"Secret {name.format(number)} does not exist" for number in (1, 2))

    one, other = (print_of(finding(message)) for message in messages)

    assert one != other


def test_equal_ones_are_counted_in_their_order() -> None:
    one, other = fingerprints([finding(line=1), finding(line=2)])

    assert one != other
    assert (one, other) == fingerprints([finding(line=5), finding(line=9)])


def test_a_file_goes_by_the_name_that_it_is_given() -> None:
    assert fingerprints([finding(file="/x/a.yaml")], lambda _: "a.yaml") == fingerprints(
        [finding()]
    )


def test_they_do_not_change_from_version_to_version() -> None:
    """Baselines and code scanning keep them: another value needs another VERSION."""
    assert print_of(finding()) == "97ac7321b435b64a6f87a0816c2d240f"


def test_text_that_is_not_unicode_has_one_too() -> None:
    assert len(print_of(finding("\ud800"))) == 32
