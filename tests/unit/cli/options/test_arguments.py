"""What a person means by TYPE/NAME, TYPE NAME or TYPE."""

from __future__ import annotations

import click
import pytest

from reflet.cli.options.arguments import ObjectTarget, parse_targets


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        (["cm"], [("cm", None)]),
        (["cm", "a"], [("cm", "a")]),
        (["cm", "a", "b"], [("cm", "a"), ("cm", "b")]),
        (["cm,secret"], [("cm", None), ("secret", None)]),
        (["cm,secret", "a"], [("cm", "a"), ("secret", "a")]),
        (["cm/a"], [("cm", "a")]),
        (["cm/a", "secret/b"], [("cm", "a"), ("secret", "b")]),
        (["deployments.v1.apps"], [("deployments.v1.apps", None)]),
        (["deployments.apps/web"], [("deployments.apps", "web")]),
    ],
)
def test_the_forms_that_kubectl_reads(
    arguments: list[str], targets: list[tuple[str, str | None]]
) -> None:
    assert parse_targets(arguments) == [ObjectTarget(*target) for target in targets]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "name the type"),
        (["cm", "a/b"], "'cm' has no name"),
        (["cm/a", "b"], "'b' has no name"),
        (["cm/"], "'cm/' is not of the form"),
        (["/a"], "'/a' is not of the form"),
        (["cm/a/b"], "'cm/a/b' is not of the form"),
        (["cm,secret/a"], "'cm,secret/a' is not of the form"),
        (["cm/a,secret/b"], "'cm/a,secret/b' is not of the form"),
        (["cm,"], "an empty type in 'cm,'"),
        ([",cm"], "an empty type in ',cm'"),
        ([""], "an empty type in ''"),
        (["cm", ""], "an empty name"),
        (["cm", "a", ""], "an empty name"),
    ],
)
def test_other_forms_are_refused_with_the_reason(arguments: list[str], why: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        parse_targets(arguments)

    assert why in refused.value.message
