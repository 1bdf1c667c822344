"""Which list request comes next."""

from __future__ import annotations

import pytest

from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.paging import Paging
from reflet.errors import ApiError, Expired, InternalError, RefletError


def expired() -> Expired:
    return Expired("the continue token is too old", code=410, reason="Expired")


def test_a_listing_that_fits_takes_one_request() -> None:
    paging = Paging(ListOptions(resource_version="0"))

    paging.answered(ListMeta(resource_version="7"))

    assert paging.request is None
    assert not paging.paginated
    assert paging.metadata.resource_version == "7"


def test_the_limit_is_the_page_size_unless_given() -> None:
    assert Paging(ListOptions()).request == ListOptions(limit=500)
    assert Paging(ListOptions(limit=3)).request == ListOptions(limit=3)
    assert Paging(ListOptions(), page_size=0).request == ListOptions()


def test_a_later_page_is_asked_for_by_token_alone() -> None:
    paging = Paging(
        ListOptions(
            label_selector="a=b", resource_version="5", resource_version_match="NotOlderThan"
        )
    )

    paging.answered(ListMeta(resource_version="9", continue_="t"))

    assert paging.request == ListOptions(label_selector="a=b", limit=500, continue_="t")


def test_the_whole_has_the_version_of_its_first_page() -> None:
    paging = Paging(ListOptions())

    paging.answered(ListMeta(resource_version="9", continue_="t"))
    paging.answered(ListMeta(resource_version="12"))

    assert paging.metadata == ListMeta(resource_version="9")


def test_an_expired_token_starts_over_in_one_piece() -> None:
    paging = Paging(ListOptions(resource_version="5"))
    paging.answered(ListMeta(resource_version="9", continue_="t"))

    paging.failed(expired())
    again = paging.request
    paging.answered(ListMeta(resource_version="30"))

    assert again == ListOptions(resource_version="5", continue_="")
    assert paging.metadata.resource_version == "30"


def test_starting_over_happens_once() -> None:
    paging = Paging(ListOptions())
    paging.answered(ListMeta(continue_="t"))
    paging.failed(expired())

    with pytest.raises(Expired):
        paging.failed(expired())


@pytest.mark.parametrize("error", [expired(), InternalError("boom", code=500)])
def test_a_refused_first_page_is_final(error: ApiError) -> None:
    with pytest.raises(type(error)):
        Paging(ListOptions()).failed(error)


def test_other_errors_than_expiry_are_final() -> None:
    paging = Paging(ListOptions())
    paging.answered(ListMeta(continue_="t"))

    with pytest.raises(InternalError):
        paging.failed(InternalError("boom", code=500))


def test_without_repair_an_expired_token_is_final() -> None:
    paging = Paging(ListOptions(), repair=False)
    paging.answered(ListMeta(continue_="t"))

    with pytest.raises(Expired):
        paging.failed(expired())


@pytest.mark.parametrize("tokens", [["t", "t"], ["t", "u", "t"]])
def test_a_token_that_comes_twice_is_an_error(tokens: list[str]) -> None:
    paging = Paging(ListOptions())
    for token in tokens[:-1]:
        paging.answered(ListMeta(continue_=token))

    with pytest.raises(RefletError, match="the same continue token twice"):
        paging.answered(ListMeta(continue_=tokens[-1]))


def test_the_token_that_a_listing_begins_with_counts_too() -> None:
    paging = Paging(ListOptions(continue_="t"))

    with pytest.raises(RefletError, match="the same continue token twice"):
        paging.answered(ListMeta(continue_="t"))


def test_a_listing_that_starts_over_may_see_its_tokens_again() -> None:
    paging = Paging(ListOptions())
    paging.answered(ListMeta(continue_="t"))
    paging.failed(expired())

    paging.answered(ListMeta(continue_="t"))

    assert paging.request is not None


def test_misuse_is_noticed() -> None:
    paging = Paging(ListOptions())

    with pytest.raises(RuntimeError):
        _ = paging.metadata
    paging.answered(ListMeta())
    with pytest.raises(RuntimeError):
        paging.answered(ListMeta())
