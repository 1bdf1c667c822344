"""What is left of findings, what was left out, and what had nothing to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reflet.insight.lint.rules import (
    MASKED,
    MISSING_KEY,
    MISSING_OBJECT,
    UNUSED,
    Finding,
    chosen_rules,
)
from reflet.insight.lint.subjects import Subject
from reflet.insight.lint.suppressions import Sifted, Suppression, Suppressions

USUAL = chosen_rules()


def finding(rule: Any = MISSING_OBJECT, **facts: Any) -> Finding:
    return Finding(
        rule=rule,
        message="m",
        file=facts.pop("file", "a.yaml"),
        line=facts.pop("line", 7),
        subject=facts.pop("subject", "Pod shop/web"),
    )


def annotated(value: str, **facts: Any) -> Subject:
    return Subject(
        file=facts.pop("file", "a.yaml"),
        kind="Pod",
        namespace="shop",
        name=facts.pop("name", "web"),
        find_line={"metadata.annotations": 3}.__getitem__,
        refused_annotations={"reflet.dev/ignore": value},
    )


def texts(sifted: Sifted) -> list[str]:
    return [each.text for each in sifted.unused]


def manners(sifted: Sifted) -> list[str]:
    return [each.manner for each in sifted.suppressed]


@pytest.mark.parametrize("value", ["RFL002", "rfl003, missing-object", "ALL"])
def test_an_annotation_is_about_its_object(value: str) -> None:
    mine, others = finding(), finding(subject="Pod shop/api")

    sifted = Suppressions([annotated(value)]).sift([mine, others])

    assert sifted.findings == (others,)
    assert [(each.finding, each.reason) for each in sifted.suppressed] == [
        (mine, "annotation of Pod shop/web")
    ]


def test_an_annotation_is_about_the_rules_that_it_names() -> None:
    sifted = Suppressions([annotated("RFL002")]).sift([finding(MISSING_KEY)])

    assert sifted.findings == (finding(MISSING_KEY),)
    assert texts(sifted) == ["annotation for RFL002 of Pod shop/web (a.yaml:3)"]


def test_an_annotation_of_the_same_name_in_another_file_is_not_meant() -> None:
    assert Suppressions([annotated("RFL002", file="b.yaml")]).sift([finding()]).findings


def test_a_comment_is_about_its_line() -> None:
    comments = {"a.yaml": {7: frozenset({"RFL002"})}, "b.yaml": {}}

    sifted = Suppressions(comments=comments).sift([finding(), finding(line=8)])

    assert sifted.findings == (finding(line=8),)
    assert [each.reason for each in sifted.suppressed] == ["comment on a.yaml:7"]
    assert sifted.unused == ()


@pytest.mark.parametrize(
    ("entry", "hits"),
    [
        (Suppression(rules=("RFL002",)), True),
        (Suppression(rules=("RFL003", "missing-object")), True),
        (Suppression(rules=("RFL003",)), False),
        (Suppression(object="Pod shop/*"), True),
        (Suppression(object="Pod shop"), False),
        (Suppression(path="deploy/*.yaml"), True),
        (Suppression(path="a.yaml"), False),
        (Suppression(rules=("RFL002",), object="Pod shop/web", path="deploy/*"), True),
        (Suppression(rules=("RFL002",), object="Pod shop/web", path="charts/*"), False),
    ],
)
def test_an_entry_is_about_what_all_its_patterns_match(entry: Suppression, hits: bool) -> None:
    suppressions = Suppressions(entries=[entry], name_of=lambda file: f"deploy/{file}")

    assert manners(suppressions.sift([finding()])) == ["configuration"] * hits


def test_an_entry_says_why() -> None:
    entries = [Suppression(rules=("RFL002",), reason="the operator makes it", place="f:1")]

    (suppressed,) = Suppressions(entries=entries).sift([finding()]).suppressed

    assert suppressed.reason == "the operator makes it"


def test_what_suppresses_nothing_is_told_rule_by_rule() -> None:
    sifted = Suppressions(
        [annotated("RFL002,RFL004")],
        comments={"a.yaml": {7: frozenset({"RFL002", "RFL003"})}},
        entries=[Suppression(rules=("RFL004",), place="f:1"), Suppression(path="x", place="f:2")],
    ).sift([finding()], chosen=USUAL)

    assert texts(sifted) == [
        "comment for RFL003 on a.yaml:7",
        "annotation for RFL004 of Pod shop/web (a.yaml:3)",
        "entry for RFL004 at f:1",
        "entry for ALL at f:2",
    ]


@pytest.mark.parametrize(
    ("name", "chosen", "told"),
    [
        ("RFL004", [MASKED], True),
        ("RFL004", [MISSING_KEY], False),
        ("RFL019", USUAL, False),
        ("RFL019", [UNUSED], True),
        ("ALL", USUAL, True),
        ("ALL", [MASKED], False),
    ],
)
def test_rules_that_are_not_checked_are_not_judged(
    name: str, chosen: Sequence[Any], told: bool
) -> None:
    sifted = Suppressions([annotated(name)]).sift([], chosen=chosen)

    assert bool(sifted.unused) is told


def test_a_rule_that_there_is_not_is_told_as_such() -> None:
    sifted = Suppressions(comments={"a.yaml": {7: frozenset({"RFL0002"})}}).sift([finding()])

    assert texts(sifted) == ["comment for RFL0002 on a.yaml:7: there is no rule 'RFL0002'"]
