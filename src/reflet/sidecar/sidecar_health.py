"""Whether a sidecar is ready and alive, and the pages that say so.

``/healthz`` has the words of kiwigrid/k8s-sidecar, and a truth behind them: every stream's own
progress, files that are really written, tasks that run.  ``/livez`` and ``/readyz`` say which.
That the application has not answered a reload is shown, and decides nothing: where the sidecar must
be ready before the application starts, it would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from reflet.runtime.metrics import CONTENT_TYPE, MetricText
from reflet.transport.serving.health_checks import Health
from reflet.transport.serving.http_answers import Answer, Question

CONTACT_LOST: Final = 300.0
"""Seconds without a sign of the API server.  More than its restart takes: nobody gains when all
sidecars of a cluster are restarted because the API server is."""


@dataclass(frozen=True, slots=True)
class SidecarFacts:
    """What is known: why it is not complete, what was lost, what ended, what cannot be written.

    Mappings have a name and what is wrong with it, None for nothing.
    """

    is_started: bool
    streams: Mapping[str, str | None] = field(default_factory=dict)
    lost: Mapping[str, str | None] = field(default_factory=dict)
    tasks: Mapping[str, str | None] = field(default_factory=dict)
    files: str | None = None
    reload: str | None = None


def healthz(facts: SidecarFacts) -> tuple[int, str]:
    """The answer of ``/healthz``."""
    if any(facts.tasks.values()):
        return 503, "NOT LIVE (watcher thread died)"
    if not facts.is_started or any(facts.streams.values()) or facts.files:
        return 503, "NOT READY"
    if any(facts.lost.values()):
        return 503, "NOT LIVE (K8s contact lost)"
    return 200, "OK"


@dataclass(frozen=True, slots=True)
class SidecarPages:
    """Answers questions about one sidecar."""

    facts: Callable[[], SidecarFacts]
    metrics: MetricText

    async def answer(self, question: Question) -> Answer:
        """Answer one question."""
        if question.target == "/healthz":
            status, words = healthz(self.facts())
            return Answer(status, words.encode())
        match question.path:
            case ("livez" | "readyz", *_):
                return self._health(self.facts()).answer(question)
            case ("metrics",):
                return Answer(200, self.metrics.text().encode(), CONTENT_TYPE)
            case _:
                return Answer(404, b"Not Found")

    def _health(self, facts: SidecarFacts) -> Health:
        start = None if facts.is_started else "the first files are not written yet"
        ready: dict[str, str | None] = {"start": start, "files": facts.files}
        ready.update({f"stream/{name}": why for name, why in facts.streams.items()})
        ready.update({f"contact/{name}": why for name, why in facts.lost.items()})
        return Health(
            live={f"task/{name}": _said(why) for name, why in facts.tasks.items()},
            ready={name: _said(why) for name, why in ready.items()},
            noted={"reload": _said(facts.reload)},
        )


def _said(why: str | None) -> Callable[[], str | None]:
    return lambda: why
