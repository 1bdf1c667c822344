"""Whether the agent is well: as a whole, and part by part.

Owns: the checks and the pages ``/livez``, ``/readyz`` and ``/healthz`` in the API server's own
form.  Must not know the parts that it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reflet.node.http_answers import Answer, Question, text

Check = Callable[[], str | None]
"""Says what is wrong, None when nothing is."""


@dataclass(frozen=True, slots=True)
class Health:
    """The checks by name: those without which the agent should be started again, and the others.

    *many* gives checks that come and go, those of pods for one: name to what is wrong.
    """

    live: Mapping[str, Check]
    ready: Mapping[str, Check]
    many: Callable[[], Mapping[str, str | None]]

    def answer(self, question: Question) -> Answer:
        """Answer ``/livez`` or ``/readyz``; with ``?verbose`` every check is listed."""
        kind = question.path[0]
        checks = dict(self.live)
        if kind == "readyz":
            checks.update(self.ready)
        results: dict[str, str | None] = {name: check() for name, check in checks.items()}
        if kind == "readyz":
            results.update(self.many())
        if len(question.path) > 1:
            name = "/".join(question.path[1:])
            if name not in results:
                return text(404, f"there is no check {name}")
            results = {name: results[name]}
        failed = any(problem is not None for problem in results.values())
        if not failed and "verbose" not in question.query:
            return text(200, "ok")
        lines = [
            f"[+]{name} ok" if problem is None else f"[-]{name} failed: {problem}"
            for name, problem in results.items()
        ]
        lines.append(f"{kind} check {'failed' if failed else 'passed'}")
        return text(503 if failed else 200, "\n".join(lines))
