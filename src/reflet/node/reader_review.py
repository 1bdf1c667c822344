"""Who may ask this agent what, which is asked of the API server as the kubelet asks it.

Owns: who is asking, by certificate or token, which right a page needs, and how long an answer
holds.  Must not know what is on the pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from reflet.client.client import Client
from reflet.errors import RefletError
from reflet.node.http_answers import Answer, Question, text
from reflet.runtime.clock import Clock

CACHE: Final = 60.0  # seconds for which an answer is good
MOST_CACHED: Final = 256
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


class ReaderReview:
    """Asks the API server who is asking, and whether they may.

    As the kubelet does: a client certificate's common name is the user and its organizations
    are the groups; without one, a token is shown in a TokenReview.  The right is ``get`` of a
    subresource of this node, by a SubjectAccessReview.
    """

    def __init__(self, cluster: Client, node: str, *, clock: Clock) -> None:
        self._cluster = cluster
        self._node = node
        self._clock = clock
        self._known: dict[object, tuple[float, Answer | None]] = {}

    async def refusal(self, question: Question) -> Answer | None:
        """What to answer whoever may not ask this; None when they may."""
        rights = RIGHTS.get(question.path[0], PROXY) if question.path else PROXY
        token = "" if question.subject else _token(question)
        if not question.subject and not token:
            return text(401, "say who you are, with a token of the cluster or a client certificate")
        key = (question.subject, question.groups, token, rights)
        now = self._clock.monotonic()
        known = self._known.get(key)
        if known is not None and known[0] > now:
            return known[1]
        try:
            answer = await self._review(question, token, rights)
        except RefletError as error:
            return text(503, f"nobody can say who may ask now: {error}")
        if len(self._known) >= MOST_CACHED:
            self._known.clear()
        self._known[key] = (now + CACHE, answer)
        return answer

    async def _review(self, question: Question, token: str, rights: Sequence[str]) -> Answer | None:
        if question.subject:
            groups = [*question.groups, EVERYBODY]
            return await self._access({"user": question.subject, "groups": groups}, rights)
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
        return await self._access(who, rights)

    async def _access(self, who: Mapping[str, Any], rights: Sequence[str]) -> Answer | None:
        for right in rights:
            attributes = {
                "verb": "get",
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
        return text(403, f"{who['user']} may not get {wanted} of {self._node}")

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
