"""Problems carry facts, and say them in one sentence."""

from __future__ import annotations

import msgspec
import pytest

from reflet.resolution import problems
from reflet.resolution.places import Place
from reflet.resolution.problems import MissingObject, Problem, first_error, joined_errors

SETTINGS = {"object_kind": "ConfigMap", "namespace": "shop", "name": "settings"}


def sentence(kind: str, **facts: object) -> str:
    problem: Problem = getattr(problems, kind)(**facts)
    return problem.message


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            sentence("MissingObject", **SETTINGS, optional=True),
            "ConfigMap shop/settings does not exist (optional)",
        ),
        (
            sentence("MissingKey", **SETTINGS, key="a", present=("b", "c")),
            "ConfigMap shop/settings has no key a; it has b, c",
        ),
        (
            sentence("MissingKey", **SETTINGS, key="a", optional=True),
            "ConfigMap shop/settings has no key a (optional); it is empty",
        ),
        (
            sentence("MissingKey", **SETTINGS, key="a", binary=True),
            "ConfigMap shop/settings has key a only as binary data, which variables cannot use",
        ),
        (
            sentence("UnreadableObject", **SETTINGS, reason="forbidden"),
            "ConfigMap shop/settings could not be read: forbidden",
        ),
        (
            sentence("NoClient", **SETTINGS),
            "ConfigMap shop/settings cannot be read: there is no API server",
        ),
        (
            sentence("OversizedObject", **SETTINGS, size=2_000_000),
            "ConfigMap shop/settings holds 2000000 bytes; the API server takes 1048576",
        ),
        (
            sentence("UnresolvedReference", name="A", defined_later=True),
            "$(A) stays as it is: A is set only further down",
        ),
        (sentence("UnresolvedReference", name="A"), "$(A) stays as it is: A is not set"),
        (
            sentence("AmbiguousServiceVariable", name="A_PORT", services=("a", "b")),
            "services a, b all set A_PORT; which one wins is chance",
        ),
        (
            sentence("ServicesUnreadable", reason="forbidden"),
            "the services could not be listed: forbidden",
        ),
        (sentence("ServicesNotRead"), "the services have not been read yet"),
        (
            sentence("ServiceLinksUnset"),
            "spec.enableServiceLinks is not set; the API server defaults it to true",
        ),
        (
            sentence("InvalidVariableName", name="a=b"),
            "'a=b' is not a name for a variable: printable ASCII without '=' is",
        ),
        (
            sentence("ZeroInValue", name="A"),
            "the value of A has a zero byte; the container cannot be started with it",
        ),
        (
            sentence("OversizedValue", name="A", size=9, limit=8),
            "the value of A has 9 bytes; at most 8 are possible",
        ),
        (
            sentence("OversizedEnvironment", size=9, limit=8),
            "variables and arguments have 9 bytes together; about 8 are possible",
        ),
        (
            sentence("NotKnownYet", field="status.podIP", reason="the pod has no address yet"),
            "status.podIP is not known: the pod has no address yet",
        ),
        (
            sentence("MissingFileKey", volume="v", path="f.env", key="A", optional=True),
            "no A in f.env of v",
        ),
        (
            sentence(
                "UnreadableEnvFile",
                volume="v",
                path="f.env",
                key="A",
                kubelet="couldn't parse env file",
                detail="line 3",
            ),
            "couldn't parse env file: line 3",
        ),
        (
            sentence("UnsupportedSource", source="podCertificate"),
            "podCertificate is not supported: Reflet cannot fill it",
        ),
        (
            sentence("UnsupportedSource", source="podCertificate", instead="do without"),
            "podCertificate is not supported: Reflet cannot fill it; do without",
        ),
        (sentence("TrustBundleUnavailable", name="a", kubelet="words"), "words"),
        (sentence("UnsupportedField", field="a", kubelet="words"), "words"),
    ],
)
def test_a_problem_is_one_sentence(said: str, expected: str) -> None:
    assert said == expected


def test_the_error_is_the_first_at_which_the_kubelet_stops() -> None:
    harmless = problems.UnresolvedReference(name="A")
    found = (harmless, problems.ServicesNotRead(kubelet="first"), Problem(kubelet="second"))

    assert (first_error(found), first_error([harmless])) == ("first", None)


def test_a_blocking_problem_for_which_the_kubelet_has_no_words_uses_ours() -> None:
    problem = problems.UnsupportedSource(source="podCertificate")

    assert first_error([problem]) == problem.message


@pytest.mark.parametrize(
    ("texts", "joined"),
    [([], None), (["a"], "a"), (["a", "a"], "a"), (["a", "b", "a"], "[a, b]")],
)
def test_several_errors_are_joined_as_the_kubelet_joins_them(
    texts: list[str], joined: str | None
) -> None:
    assert joined_errors(texts) == joined


def test_the_plain_form_of_a_problem_names_its_type() -> None:
    problem = problems.ZeroInValue(place=Place(path="spec"), name="A")

    assert msgspec.to_builtins(problem) == {
        "type": "ZeroInValue",
        "place": {"path": "spec"},
        "name": "A",
    }


def test_a_problem_as_text_is_the_sentence_for_people() -> None:
    problem = MissingObject(object_kind="ConfigMap", namespace="shop", name="settings")

    assert str(problem) == "ConfigMap shop/settings does not exist"
    assert repr(problem).startswith("MissingObject(")
