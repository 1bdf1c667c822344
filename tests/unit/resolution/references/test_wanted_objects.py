"""What reading an object that a pod asks for can end in."""

from __future__ import annotations

import pytest

from reflet.errors import CacheNotSynced, Forbidden, RefletError
from reflet.resolution.objects import LARGEST_OBJECT, missing
from reflet.resolution.origins import SecretOrigin
from reflet.resolution.places import Place
from reflet.resolution.references.wanted_objects import WantedObject, origin_of
from tests.unit.resolution.scenes import secret

REQUIRED = WantedObject(kind="Secret", namespace="shop", name="credentials", place=Place())
OPTIONAL = WantedObject(
    kind="Secret", namespace="shop", name="credentials", place=Place(), optional=True
)
REFUSED = Forbidden("not for you")
ABSENT = missing("Secret", "credentials")


@pytest.mark.parametrize(
    ("wanted", "error", "outcome"),
    [
        (REQUIRED, ABSENT, ("MissingObject", True, 'secret "credentials" not found')),
        (OPTIONAL, ABSENT, ("MissingObject", False, "")),
        (REQUIRED, REFUSED, ("UnreadableObject", True, "not for you")),
        (OPTIONAL, REFUSED, ("UnreadableObject", True, "not for you")),
    ],
)
def test_only_absence_is_forgiven_and_only_to_optional_references(
    wanted: WantedObject, error: RefletError, outcome: tuple[str, bool, str]
) -> None:
    problem = wanted.failed(error)

    assert (type(problem).__name__, problem.blocking, problem.kubelet) == outcome


def test_why_a_cache_has_nothing_is_told_beside_the_kubelets_words() -> None:
    error = CacheNotSynced("secret", "shop", "credentials")
    error.__cause__ = REFUSED

    problem = REQUIRED.failed(error)

    assert problem.kubelet == "failed to sync secret cache: timed out waiting for the condition"
    assert problem.message.endswith("could not be read: not for you")


def test_a_missing_key_of_an_optional_reference_does_not_block() -> None:
    problems = [wanted.without_key("k", "words", present=()) for wanted in (REQUIRED, OPTIONAL)]

    assert [(problem.blocking, problem.kubelet) for problem in problems] == [
        (True, "words"),
        (False, ""),
    ]


def test_no_api_server_is_forgiven_to_nobody() -> None:
    assert OPTIONAL.without_client("words").blocking


def test_an_object_may_have_a_mebibyte_and_not_one_byte_more() -> None:
    allowed, too_large = secret(a=bytes(LARGEST_OBJECT)), secret(a=bytes(LARGEST_OBJECT + 1))

    sizes = [problem.size for item in (allowed, too_large) for problem in REQUIRED.oversized(item)]

    assert sizes == [1_048_577]


def test_an_origin_remembers_the_version_that_was_read() -> None:
    origin = origin_of(REQUIRED, secret(k=b"v"), "k", whole=True, prefix="P_")

    assert origin == SecretOrigin(
        namespace="shop",
        name="credentials",
        key="k",
        resource_version="12",
        whole=True,
        prefix="P_",
    )
