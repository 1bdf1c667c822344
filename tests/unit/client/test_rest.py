"""Every page of a listing, by one request after the other."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.codec import Listing
from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.paging import Paging
from reflet.client.rest import fetch_all, left_after
from reflet.errors import ApiError, Expired


def expired() -> Expired:
    return Expired("the continue token is too old", code=410, reason="Expired")


def fetched(*answers: Listing[str] | ApiError) -> tuple[list[str], list[str | None]]:
    """What ``fetch_all`` gives, and the continue tokens that it asked with."""
    left = list(answers)
    tokens: list[str | None] = []

    async def fetch(options: ListOptions) -> Listing[str]:
        tokens.append(options.continue_)
        answer = left.pop(0)
        if isinstance(answer, ApiError):
            raise answer
        return answer

    pages = asyncio.run(fetch_all(Paging(ListOptions()), fetch))
    return [item for page in pages for item in page.items], tokens


def page(*items: str, token: str = "") -> Listing[str]:
    return Listing(items=items, metadata=ListMeta(resource_version="1", continue_=token))


def test_all_pages_come_in_order() -> None:
    assert fetched(page("a", token="t"), page("b")) == (["a", "b"], [None, "t"])


def test_pages_before_a_start_over_are_dropped() -> None:
    answers = (page("a", token="t"), expired(), page("b", "c"))

    assert fetched(*answers) == (["b", "c"], [None, "t", ""])


def test_a_refusal_that_starts_nothing_over_is_raised() -> None:
    with pytest.raises(Expired):
        fetched(expired())


@pytest.mark.parametrize(
    ("metadata", "left"),
    [
        (ListMeta(), 0),
        (ListMeta(continue_="t", remaining_item_count=7), 7),
        (ListMeta(continue_="t"), None),
    ],
)
def test_how_many_objects_follow_is_known_or_not(metadata: ListMeta, left: int | None) -> None:
    assert left_after(Listing(metadata=metadata)) == left
