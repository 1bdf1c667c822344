"""Paging: how a listing is asked for in pages, which request comes next, and when to start over.

Pure: ``client.rest.fetch_all`` drives it, and the reflector, which does more with each page.

Upstream: client-go/tools/pager/pager.go, ListPager.List
"""

from __future__ import annotations

from typing import Final

import msgspec

from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.status import is_expired_reason
from reflet.errors import ApiError, RefletError

PAGE_SIZE: Final = 500


class Paging:
    """One listing on its way.

    When a continue token has expired, the whole listing is asked for again in one piece, at the
    version that was asked for at first; ``repair=False`` raises instead, for callers that have
    already used the first pages.  ``metadata`` is that of the whole listing: it carries the
    version of the first page, because later pages show a snapshot of that moment.  A token that
    comes a second time is an error: the listing would go in circles for ever.
    """

    def __init__(
        self, options: ListOptions, *, page_size: int = PAGE_SIZE, repair: bool = True
    ) -> None:
        if not options.limit:
            options = msgspec.structs.replace(options, limit=page_size)
        self._asked = options
        self._repair = repair
        self._first: ListMeta | None = None
        self._tokens = {options.continue_}
        self.request: ListOptions | None = options
        self.paginated = False

    @property
    def metadata(self) -> ListMeta:
        """The metadata of the whole listing; a RuntimeError while there is none."""
        if self._first is None:
            raise RuntimeError("no page has come yet")
        return ListMeta(resource_version=self._first.resource_version)

    def answered(self, metadata: ListMeta) -> None:
        """A page with *metadata* has come."""
        if self.request is None:
            raise RuntimeError("a page came that nobody asked for")
        if self._first is None:
            self._first = metadata
        if not metadata.continue_:
            self.request = None
            return
        if metadata.continue_ in self._tokens:
            raise RefletError(
                "the server goes in circles: it gave the same continue token twice in one list; "
                "look at proxies between here and the API server that cache or rewrite answers"
            )
        self._tokens.add(metadata.continue_)
        self.paginated = True
        # A continue token carries its version; the server refuses both at once.
        self.request = msgspec.structs.replace(
            self.request,
            continue_=metadata.continue_,
            resource_version=None,
            resource_version_match=None,
        )

    def failed(self, error: ApiError) -> None:
        """A page was refused: raises *error* unless the listing starts over."""
        request = self.request
        if not (self._repair and request is not None and request.continue_):
            raise error
        if not is_expired_reason(error):
            raise error
        self._repair = False
        self._first = None
        self._tokens.clear()
        self.request = msgspec.structs.replace(self._asked, limit=0, continue_="")
