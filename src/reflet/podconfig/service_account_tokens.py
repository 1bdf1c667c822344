"""Tokens of service accounts, asked for when they are needed and renewed in time.

A token is renewed when a fifth of its life is left, or when it is a day old, each up to ten
seconds earlier by chance, so that a thousand pods do not come at once.  A token that cannot be
renewed is answered as long as it is good.  Tokens are in memory only, and in no representation.

Upstream: pkg/kubelet/token/token_manager.go, Manager: GetServiceAccountToken, requiresRefresh
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.resolution.volumes.projected_contents import USUAL_EXPIRATION
from reflet.runtime.clock import Clock, SystemClock

LONGEST_USE: Final = timedelta(hours=24)
LAST_PART: Final = 0.2  # of a token's life, in which it is renewed
MOST_JITTER: Final = 10.0  # seconds
RETRY: Final = 15.0
"""Seconds until a request that failed, or brought a token that is old already, is tried again."""


class IssuedToken(Protocol):
    """A token, and when it ends."""

    @property
    def token(self) -> str:
        """The token itself."""
        ...

    @property
    def expiration_timestamp(self) -> datetime:
        """When it ends."""
        ...


class TokenServer(Protocol):
    """Whoever issues tokens; ``reflet.Cluster`` is one."""

    async def request_token(
        self,
        service_account: str,
        *,
        namespace: str | None,
        audiences: Sequence[str],
        expiration_seconds: int,
        pod: tuple[str, str] | None,
    ) -> IssuedToken:
        """A new token, bound to the pod of that name and uid if one is given."""
        ...


@dataclass(frozen=True, slots=True)
class TokenKey:
    """Which token: whose, for whom, for how long, and bound to which pod."""

    namespace: str
    service_account: str
    audience: str
    seconds: int
    pod: tuple[str, str] | None

    def __str__(self) -> str:
        pod = "" if self.pod is None else f"/{self.pod[0]}"
        return f"{self.namespace}/{self.service_account}/{self.audience}/{self.seconds}{pod}"


@dataclass(frozen=True, slots=True)
class _Kept:
    token: str = field(repr=False)
    ends: datetime
    renew_at: datetime


class ServiceAccountTokens:
    """The tokens of many pods, in memory only.

    Two who ask for one token at the same time share a request.  *chance* gives numbers from 0 to
    1.  Belongs to one event loop.

    - *server*: what requests tokens: a ``Client``
    """

    def __init__(
        self,
        server: TokenServer,
        *,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._server = server
        self._clock = clock or SystemClock()
        self._chance = chance
        self._kept: dict[TokenKey, _Kept] = {}
        self._retry_at: dict[TokenKey, datetime] = {}
        self._asking: dict[TokenKey, asyncio.Lock] = {}

    def __repr__(self) -> str:
        return f"<ServiceAccountTokens, {len(self._kept)} kept>"

    async def get(self, key: TokenKey) -> str | RefletError:
        """The token, renewed if it is time; or the kubelet's error of getting it.

        While a token cannot be renewed, the old one is answered as long as it is good.

        - *key*: pod, service account, audience and lifetime of the token
        """
        async with self._asking.setdefault(key, asyncio.Lock()):
            now = self._clock.now()
            kept = self._kept.get(key)
            if kept is not None and now < kept.renew_at:
                return kept.token
            if kept is not None and now < kept.ends and now < self._retry_at.get(key, now):
                return kept.token
            try:
                kept = self._keep(key, await self._request(key))
            except RefletError as error:
                self._retry_at[key] = self._clock.now() + timedelta(seconds=RETRY)
                if kept is None:
                    return RefletError(f"failed to fetch token: {error}")
                if self._clock.now() < kept.ends:
                    return kept.token
                return RefletError(f"token {key} expired and refresh failed: {error}")
            return kept.token

    def due_in(self, keys: Sequence[TokenKey]) -> float | None:
        """Seconds until the first of these should be asked for again; None for no tokens.

        - *keys*: the tokens that are in use
        """
        now = self._clock.now()
        moments = [self._due_at(key, now) for key in keys]
        return max(0.0, (min(moments) - now).total_seconds()) if moments else None

    def forget(self, uid: str) -> None:
        """Drop the tokens of a pod that is gone."""
        for key in [key for key in self._asking if key.pod is not None and key.pod[1] == uid]:
            self._drop(key)

    def _due_at(self, key: TokenKey, now: datetime) -> datetime:
        kept = self._kept.get(key)
        retry = self._retry_at.get(key, now)
        return retry if kept is None else max(kept.renew_at, retry)

    async def _request(self, key: TokenKey) -> IssuedToken:
        return await self._server.request_token(
            key.service_account,
            namespace=key.namespace,
            audiences=(key.audience,) if key.audience else (),
            expiration_seconds=key.seconds,
            pod=key.pod,
        )

    def _keep(self, key: TokenKey, issued: IssuedToken) -> _Kept:
        ends = issued.expiration_timestamp
        # A server may give a token a longer or a shorter life than was asked for, and tells only
        # its end.
        begun = self._clock.now()
        jitter = timedelta(seconds=MOST_JITTER * self._chance())
        late = ends - (ends - begun) * LAST_PART
        kept = _Kept(issued.token, ends, min(late, begun + LONGEST_USE) - jitter)
        self._kept[key] = kept
        # One that is to be renewed already would be asked for again and again without a pause.
        self._retry_at[key] = begun + timedelta(seconds=RETRY)
        return kept

    def _drop(self, key: TokenKey) -> None:
        self._kept.pop(key, None)
        self._retry_at.pop(key, None)
        self._asking.pop(key, None)


def token_keys(pod: Pod) -> tuple[TokenKey, ...]:
    """The tokens that a pod's projected volumes ask for; bound to it when it has a uid."""
    metadata = pod.metadata
    bound_to = (metadata.name, metadata.uid) if metadata.uid else None
    keys: dict[TokenKey, None] = {}
    for volume in pod.spec.volumes:
        for source in () if volume.projected is None else volume.projected.sources:
            wanted = source.service_account_token
            if wanted is not None:
                seconds = wanted.expiration_seconds
                key = TokenKey(
                    metadata.namespace,
                    pod.spec.service_account_name,
                    wanted.audience,
                    USUAL_EXPIRATION if seconds is None else seconds,
                    bound_to,
                )
                keys[key] = None
    return tuple(keys)
