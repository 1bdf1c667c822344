"""``/livez`` and ``/readyz`` in the API server's own form: a line for each check.

``/readyz/CHECK`` is one of them.

Upstream: apiserver/pkg/server/healthz/healthz.go, handleRootHealth
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reflet.transport.serving.http_answers import Answer, Question, text

Check = Callable[[], str | None]
"""Says what is wrong, None when nothing is."""


@dataclass(frozen=True, slots=True)
class Health:
    """The checks by name: those without which a program should be started again, and the others.

    *many* gives checks that come and go, those of pods for one: name to what is wrong.  Those of
    *noted* are shown, and asked by name, and decide nothing.
    """

    live: Mapping[str, Check]
    ready: Mapping[str, Check]
    many: Callable[[], Mapping[str, str | None]] = dict
    noted: Mapping[str, Check] = field(default_factory=dict)

    def answer(self, question: Question) -> Answer:
        """Answer ``/livez`` or ``/readyz``; with ``?verbose`` every check is listed."""
        kind = question.path[0]
        checks = dict(self.live)
        if kind == "readyz":
            checks.update(self.ready)
        results: dict[str, str | None] = {name: check() for name, check in checks.items()}
        if kind == "readyz":
            results.update(self.many())
        noted = {name: check() for name, check in self.noted.items()} if kind == "readyz" else {}
        if len(question.path) > 1:
            name = "/".join(question.path[1:])
            if name not in results | noted:
                return text(404, f"there is no check {name}")
            results, noted = {name: (results | noted)[name]}, {}
        failed = any(problem is not None for problem in results.values())
        if not failed and "verbose" not in question.query:
            return text(200, "ok")
        lines = [
            f"[+]{name} ok" if problem is None else f"[-]{name} failed: {problem}"
            for name, problem in (results | noted).items()
        ]
        lines.append(f"{kind} check {'failed' if failed else 'passed'}")
        return text(503 if failed else 200, "\n".join(lines))
