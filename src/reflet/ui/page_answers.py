"""Who may have the page, and which file is where.

The page itself holds nothing: everybody who can connect may have its files.  Its document is for
whoever shows the token, in a header that no browser adds by itself: a page of somebody else cannot
ask for it, nor a program of another user.  A name that somebody lets point at this machine (DNS
rebinding) is refused by the ``Host`` header, and a request from another page by ``Origin``.

The token is in the address behind the ``#``, which browsers do not send, so that no log and no
``Referer`` has it.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from importlib.resources import files
from ipaddress import ip_address
from typing import Final

from reflet.transport.serving.http_answers import Answer, Question, text
from reflet.ui.page_feed import PageFeed

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = (
    ("Content-Security-Policy", POLICY),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}
SAME: Final = frozenset({"", "same-origin", "none"})
"""What ``Sec-Fetch-Site`` says of a page that asks for its own data; older browsers say nothing."""


def read_assets() -> Mapping[str, bytes]:
    """Return the files of the page by name."""
    folder = files("reflet.ui") / "assets"
    return {each.name: each.read_bytes() for each in folder.iterdir() if "." in each.name}


class PageAnswers:
    """Answers for one page: its files, and *feed* for who shows *token*."""

    def __init__(self, feed: PageFeed, *, token: str) -> None:
        self._feed = feed
        self._token = token
        self._assets = read_assets()

    async def answer(self, question: Question) -> Answer:
        """Answer one question."""
        if not _is_here(question.headers.get("host", "")):
            return text(421, "this page is answered under the name localhost alone")
        match question.path:
            case ():
                return self._file("index.html")
            case ("events",):
                return self._events(question)
            case (name,) if name in self._assets:
                return self._file(name)
            case _:
                return text(404, "there is no such page")

    def _file(self, name: str) -> Answer:
        kind = _TYPES[name.rpartition(".")[2]]
        return Answer(200, self._assets[name], kind, headers=HEADERS)

    def _events(self, question: Question) -> Answer:
        headers = question.headers
        origin, host = headers.get("origin"), headers["host"]
        site = headers.get("sec-fetch-site", "")
        if origin not in {None, f"http://{host}"} or site not in SAME:
            return text(403, "this is for the page itself, not for others")
        scheme, _, given = headers.get("authorization", "").partition(" ")
        shown = given if scheme.lower() == "bearer" else ""
        if not hmac.compare_digest(shown.encode(), self._token.encode()):
            return text(401, "this needs the token of the page")
        gzip = "gzip" in headers.get("accept-encoding", "")
        events = self._feed.events(headers.get("last-event-id", ""), gzip=gzip)
        more = (("Content-Encoding", "gzip"),) if gzip else ()
        return Answer(200, events, "text/event-stream", headers=(*HEADERS, *more))


def _is_here(host: str) -> bool:
    """Whether a ``Host`` header names this machine for itself; a forwarded port may be another."""
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    return is_loopback(name.removeprefix("[").removesuffix("]"))


def is_loopback(host: str) -> bool:
    """Whether an address, or localhost, is this machine for itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
