"""The development server asks webhooks what the real one asks them, and does what they say.

Both servers have the same configurations, each with a webhook of its own that notes what it is
asked; both get the same requests.  The requests are in
tests/real/webhook_cases.py and webhook_writes.py.
"""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from reflet.testing.pytest_plugin import running_server
from tests.patience import Deadline
from tests.real.differential.comparison import differences, unexplained
from tests.real.differential.script import Ask, get, post
from tests.real.differential.side import Outcome, Side
from tests.real.kube_server import HOST, KubeServer
from tests.real.webhook_cases import CASES, Case, config_map
from tests.real.webhook_writes import DEFINITION, GEARS, WRITES, Writes
from tests.webhook_scenes import (
    MUTATING,
    VALIDATING,
    Document,
    WebhookServer,
    configuration,
    deny,
    webhook,
)

PATIENCE = 20.0  # seconds until the real server has noticed a configuration
THEIRS, OURS = ADMINISTRATORS = ("admin", "reflet:admin")
LAST = "last"
MUTATE = {f"/{case.name}" for case in CASES if case.sort == "mutating"} | {"/mutate"}


@dataclass
class Called:
    """One of the two servers, and the webhook that it calls."""

    side: Side
    hooks: WebhookServer

    def ask(self, namespace: str, ask: Ask) -> tuple[Outcome, list[Document]]:
        """Send a request; give the answer and what the webhook was asked meanwhile."""
        self.side._kept = {"ns": namespace}
        before = len(self.hooks.asked)
        outcome = self._sent(ask)
        reviews = [
            {"path": each.path.partition("?")[0], **each.request}
            for each in self.hooks.asked[before:]
            if each.request["userInfo"]["username"] in ADMINISTRATORS
        ]
        reviews = _each_once(reviews)
        # Those that validate are called at once, and so in any order.
        reviews.sort(key=lambda each: each["path"] if each["path"] not in MUTATE else "")
        return Outcome(outcome.code, outcome.headers, self._named(outcome.body)), self._named(
            reviews
        )

    def _named(self, value: Any) -> Any:
        """Call by one name what each side has its own name for: a port, the administrator."""
        text = json.dumps(value).replace(f":{self.hooks.port}", ":PORT")
        return json.loads(text.replace(OURS, THEIRS))

    def _sent(self, ask: Ask) -> Outcome:
        with closing(self.side._connect()) as self.side._connection:
            return self.side._ask(ask)

    def define(self) -> None:
        """Make the custom kind, and wait until it is served."""
        self._create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        deadline = Deadline(PATIENCE)
        while self._sent(get(GEARS.replace("<ns>", "default"))).code != http.client.OK:
            assert not deadline.passed, "the custom kind is not served"

    def install(self) -> None:
        """Make the configurations and wait until the server follows them."""
        cases: dict[str, list[Document]] = {MUTATING: [], VALIDATING: []}
        for case in CASES:
            self.hooks.replies[case.name] = case.reply
            path = MUTATING if case.sort == "mutating" else VALIDATING
            cases[path].append(case.webhook(self.hooks))
        for path, name in ((MUTATING, "mutate"), (VALIDATING, "validate")):
            self._create(path, configuration("all", webhook(name, self.hooks.client_config(name))))
            self._create(path, configuration("cases", *cases[path]))
            end = f"{LAST}-{name}"
            self.hooks.replies[end] = deny()
            last = webhook(end, self.hooks.client_config(end), **_only(end))
            self._create(path, configuration(LAST, last))
            self._wait_for(end)

    def _create(self, path: str, body: Document) -> None:
        outcome = self._sent(post(path, body))
        assert outcome.code == http.client.CREATED, outcome

    def _wait_for(self, case: str) -> None:
        deadline = Deadline(PATIENCE)
        path = "/api/v1/namespaces/default/configmaps?dryRun=All"
        while self._sent(post(path, config_map(case))).code == http.client.CREATED:
            assert not deadline.passed, "the server does not follow the configuration"


def _each_once(reviews: list[Document]) -> list[Document]:
    """Leave out what was asked word for word before.

    The real server writes on what it remembers first, and asks again when that was old.
    """
    found: dict[str, Document] = {}
    for review in reviews:
        words = {name: value for name, value in review.items() if name != "uid"}
        found.setdefault(json.dumps(words, sort_keys=True), review)
    return list(found.values())


def _only(case: str) -> Document:
    return {"objectSelector": {"matchLabels": {"case": case}}}


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Called, Called]]:
    """The real server and ours; the real one is not shared, since all its writes are seen."""
    with ExitStack() as stack:
        kube = stack.enter_context(KubeServer())
        server = stack.enter_context(running_server({"tls": False}))
        tls = ssl.create_default_context(cafile=str(kube.ca_file))
        real = Side(
            lambda: http.client.HTTPSConnection(HOST, kube.port, context=tls, timeout=PATIENCE),
            kube.tokens["admin"],
            kube.compact,
        )
        address = urlsplit(server.url).netloc
        ours = Side(
            lambda: http.client.HTTPConnection(address, timeout=PATIENCE), server.token, int
        )
        found = []
        for side in (real, ours):
            called = Called(side, stack.enter_context(WebhookServer()))
            called.define()
            called.install()
            found.append(called)
        yield found[0], found[1]


def compared(both: tuple[Called, Called], asks: tuple[Ask, ...], differs: Any = None) -> list[str]:
    """Send the same requests to both; say where answers and reviews differ."""
    namespace = f"hooks-{secrets.token_hex(4)}"
    told: list[str] = []
    made = post("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for number, ask in enumerate((made, *asks)):
        (real, seen), (ours, seen_here) = (each.ask(namespace, ask) for each in both)
        declared = (differs or {}).get(number, {})
        shown = get(ask.path, differs={k: v for k, v in declared.items() if k[:1] != "/"})
        found = unexplained(shown, differences(ask, real, ours))
        reviews = get(ask.path, differs={k[1:]: v for k, v in declared.items() if k[:1] == "/"})
        one, other = (Outcome(200, {}, each) for each in (seen, seen_here))
        found += unexplained(reviews, differences(reviews, one, other))
        if found:
            told.append("\n".join([ask.title, *(f"    {each}" for each in found)]))
    return told


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_servers_do_what_a_webhook_says(both: tuple[Called, Called], case: Case) -> None:
    told = compared(both, case.asks, case.differs)

    if told:
        pytest.fail("\n".join(told), pytrace=False)


@pytest.mark.parametrize("writes", WRITES, ids=lambda writes: writes.name)
def test_both_servers_tell_webhooks_the_same(both: tuple[Called, Called], writes: Writes) -> None:
    told = compared(both, writes.asks, writes.differs)

    if told:
        pytest.fail("\n".join(told), pytrace=False)
