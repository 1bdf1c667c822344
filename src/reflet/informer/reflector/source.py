"""What a reflector needs from the outside world: pages of a list, and a watch.

client-go calls it ListerWatcher.  ``reflet.client`` fits without knowing it, and so can any other
client.

Upstream: client-go/tools/cache/listwatch.go, ListerWatcher; apimachinery/pkg/watch, Interface
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from reflet.api.codec import Listing
from reflet.api.meta import KubernetesObject
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.runtime.gate import Gate

T = TypeVar("T", bound=KubernetesObject)


class WatchStream(Protocol[T]):
    """The events of one watch."""

    @property
    def received_bytes(self) -> int:
        """How many bytes have come so far; 0 for ever where nobody counts."""
        ...

    def batches(self) -> AsyncIterator[Sequence[WatchEvent[T]]]:
        """Yield the events that arrived together, at least one at a time, in the server's order.

        Ends when the server closes the stream.  Raises the ApiError that an ERROR event holds,
        TransportError when the connection breaks, DeadlineExceeded when it goes silent, and
        DecodeError for what is no event; the events before have been given out.
        """
        ...


class Source(Protocol[T]):
    """One collection of one server, which can be listed and watched.

    A source that cannot stream lists raises when it is asked for ``send_initial_events``: the
    reflector then lists.  An error of entering ``watch`` is the server's refusal; one of reading
    comes from within the stream.

    ``gate`` is that of the connection, shared by all sources that use it; None, or no such
    attribute, where nobody has one: then each reflector waits for a server that is away by a
    back-off of its own.
    """

    @property
    def gate(self) -> Gate | None:
        """Where requests wait while the server cannot be reached."""
        ...

    async def page(self, options: ListOptions, /) -> Listing[T]:
        """One list request, as *options* say; the answer may be only the first page."""
        ...

    def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AbstractAsyncContextManager[WatchStream[T]]:
        """Open a watch, and close it when the context is left.

        *silence* is the longest time in seconds without a byte before the stream counts as
        dead and raises DeadlineExceeded; None never does.
        """
        ...
