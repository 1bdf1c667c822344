"""The line of a finding, its carets, and what is never shown."""

from __future__ import annotations

import pytest

from reflet.api.core.config import Secret
from reflet.api.meta import ObjectMeta
from reflet.cli.output.lint_excerpts import LONGEST_IN_A_PIPE, Excerpts, span
from reflet.insight.lint.rules import MISSING_KEY, PLAIN_SECRET, Finding, Rule
from reflet.insight.lint.subjects import Subject

LINE = "      valueFrom: {secretKeyRef: {name: db, key: passwrod}}"


def finding(
    message: str = "",
    *,
    line: int = 1,
    path: str = "",
    subject: str = "Pod a/b",
    rule: Rule = MISSING_KEY,
) -> Finding:
    return Finding(rule=rule, message=message, file="a.yaml", line=line, subject=subject, path=path)


def secret(**data: bytes) -> Subject:
    item = Secret(metadata=ObjectMeta(name="db"), data=data)
    return Subject(file="a.yaml", line=9, kind="Secret", namespace="a", name="db", object=item)


def shown(
    text: str, found: Finding, *subjects: Subject, others: tuple[Finding, ...] = ()
) -> list[str]:
    excerpts = Excerpts({"a.yaml": text.encode()}, subjects, (found, *others))
    return list(excerpts.lines(found, "wrong"))


def test_the_line_is_shown_with_its_number_and_carets() -> None:
    found = finding("Secret default/db has no key passwrod; it has password", line=2)

    assert shown(f"a:\n{LINE}\n", found) == [
        "    2 |       valueFrom: {secretKeyRef: {name: db, key: passwrod}}",
        "      |                                                 ^^^^^^^^",
    ]


@pytest.mark.parametrize(
    ("message", "path", "marked"),
    [
        ("Secret a/db has no key passwrod; it has password", "", "passwrod"),
        ("Secret a/db does not exist", "", "db"),
        ("the key is odd", "spec.env[0].valueFrom.secretKeyRef", "secretKeyRef"),
        ("it is odd", "spec.elsewhere", LINE.strip()),
    ],
)
def test_the_word_that_the_message_names_is_marked(message: str, path: str, marked: str) -> None:
    begin, end = span(LINE, finding(message, path=path))

    assert LINE[begin:end] == marked


def test_a_version_is_one_word() -> None:
    line = "apiVersion: policy/v1beta1"

    begin, end = span(line, finding('no matches for kind "X" in version "policy/v1beta1": gone'))

    assert line[begin:end] == "policy/v1beta1"


def test_a_file_that_was_not_read_has_no_lines() -> None:
    assert list(Excerpts().lines(finding(), "wrong")) == []


@pytest.mark.parametrize("line", [0, 3, 900])
def test_a_line_that_is_not_there_is_not_shown(line: int) -> None:
    assert shown("a\nb\n", finding(line=line)) == []


def test_a_line_has_no_power_over_the_terminal() -> None:
    assert shown("a\x1b[2J\tb", finding())[0] == "    1 | a\\x1b[2J b"


def test_a_long_line_is_cut() -> None:
    (line,) = shown("a: " + "x" * 500, finding("xyz"))

    assert line.endswith("…")
    assert len(line) == LONGEST_IN_A_PIPE


# Secrets


def test_no_line_of_a_secret_is_shown() -> None:
    assert shown("password: hunter2", finding(subject="Secret a/db")) == []


def test_no_line_with_a_plain_secret_is_shown_whatever_is_said_of_it() -> None:
    plain = finding(rule=PLAIN_SECRET)

    assert shown("value: hunter2", plain) == []
    assert shown("value: hunter2", finding("other"), others=(plain,)) == []


@pytest.mark.parametrize("text", ["hunter2", "aHVudGVyMg==", "second line"])
def test_no_line_that_holds_a_value_of_a_secret_is_shown(text: str) -> None:
    values = secret(password=b"hunter2", key=b"first\nsecond line")

    assert (
        shown(f'[{{"kind": "Secret", "x": "{text}"}}, {{"kind": "Pod"}}]', finding(), values) == []
    )


def test_no_line_on_which_a_secret_begins_is_shown() -> None:
    assert shown("\n" * 8 + "{kind: Secret, data: {a: x}}", finding(line=9), secret()) == []
