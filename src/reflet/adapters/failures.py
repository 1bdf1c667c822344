"""What other libraries' errors mean: looks behind their wrappers for what really happened.

Owns: finding the operating system's error inside a library's.  Must not know any library.
"""

from __future__ import annotations

from reflet.errors import DeadlineExceeded, TransportError
from reflet.transport.failures import connection_failure


def broken_connection(error: BaseException, server: str, *, timed_out: bool) -> TransportError:
    """The TransportError that *error*, another library's, means for a connection to *server*.

    *timed_out* says that the library calls it a time-out.
    """
    found = _innermost(error)
    if found is not None:
        return connection_failure(found, server)
    if timed_out:
        return DeadlineExceeded(f"{server}: no answer in time")
    words = " ".join(str(error).split()) or type(error).__name__
    return TransportError(f"{server}: {words}")


def _innermost(error: BaseException) -> BaseException | None:
    """The operating system's error behind *error*: libraries wrap its words in vaguer ones."""
    found: BaseException | None = None
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        if isinstance(link, OSError | TransportError):
            found = link
        if isinstance(link, BaseExceptionGroup):
            # One attempt for each address of the host: the last stands for all.
            link = link.exceptions[-1]
        elif link.__cause__ is not None or found is not None:
            link = link.__cause__
        else:
            # Even a suppressed one: that is meant for tracebacks.
            link = link.__context__
    return found
