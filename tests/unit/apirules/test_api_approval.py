from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.api_approval import ANNOTATION, approval_of


def definition(group: str, text: str | None = None) -> dict[str, Any]:
    annotations = {} if text is None else {ANNOTATION: text}
    return {"metadata": {"annotations": annotations}, "spec": {"group": group}}


@pytest.mark.parametrize("group", ["example.com", "notk8s.io", "k8s.io.example.com", ""])
def test_other_groups_need_nobody(group: str) -> None:
    assert approval_of(definition(group)) is None


@pytest.mark.parametrize("group", ["k8s.io", "a.k8s.io", "kubernetes.io", "b.a.kubernetes.io"])
def test_groups_of_the_community_need_somebody(group: str) -> None:
    approval = approval_of(definition(group))

    assert approval is not None
    assert (approval.status, approval.reason) == ("False", "MissingAnnotation")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "MissingAnnotation"),
        ("https://github.com/kubernetes/kubernetes/pull/1", "ApprovedAnnotation"),
        ("http://h", "ApprovedAnnotation"),
        ("unapproved, experimental", "UnapprovedAnnotation"),
        ("yes", "UnknownAnnotation"),
        ("mailto:a", "UnknownAnnotation"),
        ("//host/path", "UnknownAnnotation"),
        ("https://", "UnknownAnnotation"),
        ("https://a b/", "UnknownAnnotation"),
    ],
)
def test_the_annotation_is_an_address_or_says_that_there_is_none(text: str, reason: str) -> None:
    approval = approval_of(definition("a.k8s.io", text))

    assert approval is not None
    assert approval.reason == reason
