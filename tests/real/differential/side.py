"""One of the two servers: plays scenes and notes what it answers.

Owns: connections, names in angle brackets and what steps keep.  Must not know the other server,
nor what is compared.
"""

from __future__ import annotations

import copy
import http.client
import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, assert_never
from urllib.parse import quote

from tests.patience import Deadline
from tests.real.differential.script import (
    ABSENT,
    Ask,
    Edited,
    ForgetHistory,
    Scene,
    WaitUntilGone,
    WaitUntilServed,
    Watch,
)

AGENT: Final = "differential/1.0 (a test)"  # the servers name field managers after it
PATIENCE: Final = 30.0  # seconds until something that happens by itself must have happened
PAUSE: Final = 0.02  # seconds between two looks
UNUSUAL: Final = frozenset({"HEAD", "OPTIONS", "TRACE"})
COMPARED_HEADERS: Final = ("Content-Type", "Warning", "Retry-After", "Allow", "Location")
_NAME: Final = re.compile(r"<([a-z]+)>")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one request; of a watch, ``body`` is the list of its events."""

    code: int
    headers: Mapping[str, str]
    body: Any


class Side:
    """A server, as its administrator sees it; for one thread."""

    def __init__(
        self,
        connect: Callable[[], http.client.HTTPConnection],
        token: str,
        forget_history: Callable[[], object],
    ) -> None:
        self._connect = connect
        self._token = token
        self._forget_history = forget_history
        self._connection = connect()
        self._kept: dict[str, Any] = {}

    def play(self, scene: Scene, namespace: str) -> list[Outcome]:
        """Play a scene in a fresh namespace and give what came of each of its requests."""
        self._kept = {"ns": namespace}
        with closing(self._connect()) as self._connection:
            return self._played(scene, namespace)

    def _played(self, scene: Scene, namespace: str) -> list[Outcome]:
        made = self._ask(Ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}}))
        if made.code != http.client.CREATED:
            raise RuntimeError(f"namespace {namespace}: {made}")
        outcomes: list[Outcome] = []
        for step in scene.steps:
            match step:
                case Ask():
                    outcomes.append(self._ask(step))
                case Watch():
                    outcomes += self._watch(step)
                case WaitUntilServed():
                    method = "GET" if step.body is None else "POST"
                    self._wait(Ask(method, step.path, step.body, headers=step.headers))
                case WaitUntilGone():
                    self._wait(Ask("GET", step.path, headers=step.headers), is_there=False)
                case ForgetHistory():
                    self._forget_history()
                case _:
                    assert_never(step)
        return outcomes

    def _ask(self, ask: Ask) -> Outcome:
        response = self._send(self._connection, ask)
        outcome = Outcome(response.status, _headers(response), _decoded(response))
        if ask.method in UNUSUAL or outcome.code >= http.client.BAD_REQUEST:
            # Some refusals leave the connection in a state that is not worth comparing.
            self._connection.close()
        self._keep(ask.keep, outcome.body)
        return outcome

    def _watch(self, watch: Watch) -> list[Outcome]:
        with closing(self._connect()) as connection:
            ask = Ask("GET", watch.path, accept=watch.accept, headers=watch.headers)
            response = self._send(connection, ask)
            outcomes = [self._ask(ask) for ask in watch.during]
            with closing(response):
                if response.status == http.client.OK:
                    body: Any = _events(response, watch.events)
                else:
                    body = _decoded(response)
        self._keep(watch.keep, body)
        return [*outcomes, Outcome(response.status, _headers(response), body)]

    def _wait(self, look: Ask, *, is_there: bool = True) -> None:
        deadline = Deadline(PATIENCE)
        while (self._ask(look).code in {http.client.OK, http.client.CREATED}) is not is_there:
            if deadline.passed:
                raise TimeoutError(
                    f"not {'' if is_there else 'gone '}within {PATIENCE:g} s: {look.title}"
                )
            time.sleep(PAUSE)

    def _send(self, connection: http.client.HTTPConnection, ask: Ask) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self._token}", "User-Agent": AGENT}
        if ask.accept:
            headers["Accept"] = ask.accept
        content = self._content(ask.body)
        if content is not None and ask.content_type:
            headers["Content-Type"] = ask.content_type
        path = quote(self._filled(ask.path), safe="/?&=%:,()!;+*'~")
        own = {name: self._filled(value) for name, value in ask.headers.items()}
        connection.request(ask.method, path, content, headers | own)
        return connection.getresponse()

    # Names

    def _content(self, body: object) -> bytes | None:
        if body is None:
            return None
        if isinstance(body, bytes):
            return self._filled(body.decode("latin-1")).encode("latin-1")
        return json.dumps(self._document(body)).encode()

    def _document(self, body: Any) -> Any:
        if isinstance(body, Edited):
            document = copy.deepcopy(self._kept[body.kept])
            for path, value in body.changes.items():
                _set(document, path.split("."), self._document(value))
            return document
        if isinstance(body, Mapping):
            return {self._filled(name): self._document(value) for name, value in body.items()}
        if isinstance(body, list | tuple):
            return [self._document(value) for value in body]
        return self._filled(body) if isinstance(body, str) else body

    def _filled(self, text: str) -> str:
        return _NAME.sub(lambda found: str(self._kept.get(found[1], found[0])), text)

    def _keep(self, wanted: Mapping[str, str], body: Any) -> None:
        for name, path in wanted.items():
            value = body
            for part in path.split(".") if path else ():
                value = value[int(part)] if isinstance(value, list) else value.get(part)
            self._kept[name] = value


def _headers(response: http.client.HTTPResponse) -> Mapping[str, str]:
    found = {name: response.headers.get_all(name) for name in COMPARED_HEADERS}
    return {name: ", ".join(values) for name, values in found.items() if values}


def _decoded(response: http.client.HTTPResponse) -> Any:
    content = response.read()
    if response.headers.get_content_type() != "application/json":
        return content.decode(errors="replace")
    return json.loads(content) if content else ""


def _events(response: http.client.HTTPResponse, count: int | None) -> list[Any]:
    events: list[Any] = []
    while count is None or len(events) < count:
        line = response.readline()
        if not line:
            break
        events.append(json.loads(line))
    return events


def _set(document: Any, path: list[str], value: Any) -> None:
    *parents, last = path
    for part in parents:
        document = document[int(part)] if isinstance(document, list) else document[part]
    if value is ABSENT:
        document.pop(last)
    elif isinstance(document, list):
        document[int(last)] = value
    else:
        document[last] = value
