"""The recorded cases of client-go's pager."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.paging import Paging
from reflet.errors import Expired

RECORDED = json.loads((Path(__file__).parent / "data" / "scenarios.json").read_text())["pager"]
PAGE_SIZE: int = RECORDED["pageSize"]


def name(case: dict[str, Any]) -> str:
    return "-".join(f"{key}={value}" for key, value in case.items() if key != "note")


def pages(case: dict[str, Any]) -> list[ListMeta | Expired]:
    """The server's answers: the metadata of each page, or what it refuses it with."""
    count = max(1, -(-case["items"] // PAGE_SIZE))
    answers: list[ListMeta | Expired] = [
        ListMeta(resource_version="10", continue_=f"after {number}" if number < count else "")
        for number in range(1, count + 1)
    ]
    if "expiresOnPage" in case:
        del answers[case["expiresOnPage"] - 1 :]
        answers += [Expired("expired", code=410, reason="Expired"), ListMeta(resource_version="20")]
    return answers


@pytest.mark.parametrize("case", RECORDED["cases"], ids=name)
def test_recorded(case: dict[str, Any]) -> None:
    asked = ListOptions(
        resource_version=case.get("resourceVersion"),
        resource_version_match=case.get("resourceVersionMatch"),
    )
    paging = Paging(asked, page_size=PAGE_SIZE, repair=case.get("fullListIfExpired", True))
    requests = []
    answers = iter(pages(case))
    failure = None
    while paging.request is not None:
        requests.append(paging.request)
        match next(answers):
            case Expired() as error:
                try:
                    paging.failed(error)
                except Expired:
                    failure = "Expired"
                    break
            case page:
                paging.answered(page)

    assert failure == case.get("error")
    assert paging.paginated == case["paged"]
    assert all(request.resource_version is None for request in requests[1:-1])
    if "lastRequest" in case:
        assert (requests[-1].limit, requests[-1].continue_) == (0, "")
    elif len(requests) > 1:
        assert requests[-1].resource_version is None
        assert requests[-1].resource_version_match is None
