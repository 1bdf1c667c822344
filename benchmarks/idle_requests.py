"""The requests that a server got, by its own account: the audit log of a kube-apiserver.

Owns: the policy of that log and how it is read.  Must not know who called, nor why.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

KINDS: Final = ("list", "watch", "get", "other")
"""What requests are counted as; reads of what is no object (discovery, versions) are other."""

# A line for every request, at the moment that it comes in: a watch ends long after.
POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["ResponseStarted", "ResponseComplete", "Panic"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True, slots=True)
class Watch:
    """What was asked for: how many seconds at most, 0 for no limit, and whether bookmarks."""

    seconds: int
    bookmarks: bool


class RequestLog:
    """Counts requests by the address that they came from.

    *folder* holds the policy and the log; ``flags`` make the server write it.
    """

    def __init__(self, folder: Path) -> None:
        policy = folder / "audit-policy.json"
        policy.write_text(json.dumps(POLICY))
        self._log = folder / "audit.log"
        self._log.touch()
        self.flags: Sequence[str] = (
            f"--audit-policy-file={policy}",
            f"--audit-log-path={self._log}",
        )
        self._read = 0
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._watches: defaultdict[str, set[Watch]] = defaultdict(set)

    def counts(self) -> Mapping[str, Counter[str]]:
        """Everything until now: by address, then by kind."""
        for event in self.news():
            self._take(event)
        return {address: Counter(count) for address, count in self._counts.items()}

    def news(self) -> Sequence[Mapping[str, Any]]:
        """The lines that were written since the last time; a count leaves none of them."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            news = log.read()
        whole, _, _ = news.rpartition(b"\n")
        self._read += len(whole) + bool(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def watches(self, address: str) -> Iterable[Watch]:
        """The kinds of watches that were asked for from an address until the last count."""
        return frozenset(self._watches[address])

    def _take(self, event: Mapping[str, Any]) -> None:
        kind = kind_of(event)
        for address in event["sourceIPs"][:1]:
            self._counts[address][kind] += 1
            if kind == "watch":
                self._watches[address].add(watch_of(event["requestURI"]))


def kind_of(event: Mapping[str, Any]) -> str:
    """What a line of the log counts as."""
    verb = str(event["verb"])
    return verb if verb in KINDS and "objectRef" in event else "other"


def watch_of(address: str) -> Watch:
    """What the address of a watch asks for."""
    query = {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}
    return Watch(
        seconds=int(query.get("timeoutSeconds", "0")),
        bookmarks=query.get("allowWatchBookmarks", "").lower() in ("true", "1"),
    )
