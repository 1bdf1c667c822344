"""Who may ask this agent what: authentication and authorization by the API server, as a kubelet's.

Who is asking is known by a certificate or a token, and a token is remembered by its hash alone.  A
stranger may cause so many reviews only: each peer has a bucket, full at first, that fills again
with time.

Upstream: pkg/kubelet/server/auth.go, NodeRequestAttributesGetter
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from reflet.client.client import Client
from reflet.errors import RefletError
from reflet.runtime.clock import Clock
from reflet.runtime.waits import SharedCalls
from reflet.transport.serving.http_answers import Answer, Question, text

CACHE: Final = 60.0  # seconds for which an answer is good
MOST_CACHED: Final = 256  # of those who may, and as many of the others
EVERYBODY: Final = "system:authenticated"

# Of the kubelet: one of these subresources of the node is enough, and everything else is proxy.
RIGHTS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "metrics": ("metrics",),
        "pods": ("pods", "proxy"),
        "healthz": ("healthz", "proxy"),
        "livez": ("healthz", "proxy"),
        "readyz": ("healthz", "proxy"),
    }
)
PROXY: Final = ("proxy",)

# By whatever method they are asked for: a kubelet lets whoever may get nodes/proxy run commands.
CREATED: Final = frozenset({"attach", "exec", "portForward"})

ReviewKey = tuple[str, tuple[str, ...], bytes, str, tuple[str, ...]]
"""Who asks, by name and groups or by the hash of a token, and which verb and rights they need."""

BURST: Final = 30
EVERY: Final = 0.2  # seconds in which one more comes
DIGITS: Final = 6  # of seconds: sums of fractions are not quite what they should be
MOST_PEERS: Final = 1024  # who are remembered; whoever has not asked for longest is forgotten


@dataclass(frozen=True, slots=True)
class _Known:
    """What the server said, and until when that holds; None is that they may."""

    refusal: Answer | None
    until: float


class _Answers:
    """What the server said to so many questions; the one that was not asked for longest goes."""

    def __init__(self) -> None:
        self._known: dict[ReviewKey, _Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: ReviewKey) -> bool:
        return key in self._known

    def find(self, key: ReviewKey, now: float) -> _Known | None:
        """What was said and still holds."""
        known = self._known.pop(key, None)
        if known is None:
            return None
        self._known[key] = known  # the newest of all now
        return known if known.until > now else None

    def keep(self, key: ReviewKey, known: _Known) -> None:
        self._known.pop(key, None)
        self._known[key] = known
        if len(self._known) > MOST_CACHED:
            del self._known[next(iter(self._known))]

    def forget(self, key: ReviewKey) -> None:
        self._known.pop(key, None)


class ReaderReview:
    """Asks the API server who is asking, and whether they may.

    As the kubelet does: a client certificate's common name is the user and its organizations
    are the groups; without one, a token is shown in a TokenReview.  The right is ``get`` of a
    subresource of this node, ``create`` for commands, streams and ports, by a
    SubjectAccessReview.

    Tokens cost the server work that anybody can cause, so each peer may have so many reviewed
    (429).  Those who may read, and those who may not, are remembered apart: whoever shows a
    thousand bad tokens makes nobody forgotten who has shown a good one, and whoever has shown a
    good one does not wait behind them when it is reviewed again.
    """

    def __init__(self, cluster: Client, node: str, *, clock: Clock) -> None:
        self._cluster = cluster
        self._node = node
        self._clock = clock
        self._readers = _Answers()
        self._others = _Answers()
        self._buckets = PeerBuckets(clock=clock)
        self._reviews: SharedCalls[ReviewKey, Answer | None] = SharedCalls("review of a reader")

    async def refusal(self, question: Question) -> Answer | None:
        """What to answer whoever may not ask this; None when they may."""
        rights = RIGHTS.get(question.path[0], PROXY) if question.path else PROXY
        token = "" if question.subject else _token(question)
        if not question.subject and not token:
            return text(401, "say who you are, with a token of the cluster or a client certificate")
        verb = "create" if question.path and question.path[0] in CREATED else "get"
        shown = sha256(token.encode()).digest()
        key = (question.subject, question.groups, shown, verb, tuple(rights))
        now = self._clock.monotonic()
        known = self._readers.find(key, now) or self._others.find(key, now)
        if known is not None:
            return known.refusal
        if token and key not in self._readers and key not in self._reviews:
            wait = self._buckets.take(question.peer)
            if wait:
                words = "too many tokens come from your address: ask again later"
                return text(429, words, retry_after=ceil(wait))
        try:
            return await self._reviews.result(
                key, lambda: self._reviewed(key, question, token, rights)
            )
        except RefletError as error:
            return text(503, f"nobody can say who may ask now: {error}")

    async def _reviewed(
        self, key: ReviewKey, question: Question, token: str, rights: Sequence[str]
    ) -> Answer | None:
        answer = await self._review(question, token, key[3], rights)
        known = _Known(answer, self._clock.monotonic() + CACHE)
        kept, other = self._readers, self._others
        if answer is not None:
            kept, other = other, kept
        kept.keep(key, known)
        other.forget(key)
        return answer

    async def _review(
        self, question: Question, token: str, verb: str, rights: Sequence[str]
    ) -> Answer | None:
        if question.subject:
            groups = [*question.groups, EVERYBODY]
            return await self._access({"user": question.subject, "groups": groups}, verb, rights)
        status = await self._ask("tokenreviews", "authentication.k8s.io", {"token": token})
        if not status.get("authenticated"):
            return text(401, "the token is not good for this cluster")
        user = status.get("user") or {}
        who = {
            "user": user.get("username", ""),
            "uid": user.get("uid", ""),
            "groups": user.get("groups", []),
            "extra": user.get("extra", {}),
        }
        return await self._access(who, verb, rights)

    async def _access(
        self, who: Mapping[str, Any], verb: str, rights: Sequence[str]
    ) -> Answer | None:
        for right in rights:
            attributes = {
                "verb": verb,
                "resource": "nodes",
                "subresource": right,
                "version": "v1",
                "name": self._node,
            }
            status = await self._ask(
                "subjectaccessreviews",
                "authorization.k8s.io",
                {**who, "resourceAttributes": attributes},
            )
            if status.get("allowed"):
                return None
        wanted = " or ".join(f"nodes/{right}" for right in rights)
        return text(403, f"{who['user']} may not {verb} {wanted} of {self._node}")

    async def _ask(self, plural: str, group: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        resource = await self._cluster.find(plural)
        kind = "TokenReview" if plural == "tokenreviews" else "SubjectAccessReview"
        review = {"apiVersion": f"{group}/v1", "kind": kind, "spec": dict(spec)}
        made = await self._cluster.resource(resource, raw=True).create(review)
        status: dict[str, Any] = made.to_dict().get("status") or {}
        return status


def _token(question: Question) -> str:
    scheme, _, token = question.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class PeerBuckets:
    """Lets each peer take *burst* at once, and one more *every* so many seconds."""

    def __init__(self, *, clock: Clock, burst: int = BURST, every: float = EVERY) -> None:
        self._clock = clock
        self._burst = burst
        self._every = every
        self._full_at: dict[str, float] = {}  # when a bucket will be full again

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, peer: str) -> float:
        """Take one and return 0; where there is none, return the seconds until there is one."""
        now = self._clock.monotonic()
        full_at = max(now, self._full_at.pop(peer, now)) + self._every
        wait = round(full_at - now - self._burst * self._every, DIGITS)
        self._full_at[peer] = full_at - self._every if wait > 0 else full_at
        if len(self._full_at) > MOST_PEERS:
            del self._full_at[next(iter(self._full_at))]
        return max(0.0, wait)
