"""What containers do, in a grammar of one line: ``exit 1, exit 1, run``.

One step for each time that the container starts; the last one holds for all later starts:

- ``run``: runs and is ready
- ``unready``: runs and is never ready
- ``pending``: is never started
- ``exit N`` or ``exit N after 5s``: runs, and ends with that code, at once or after a while

The same line is the script of an ``Outcome``, by image, and of the annotation ``reflet.dev/play``
of a pod, for its containers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, TypeAlias

from reflet.errors import ConfigurationError, ParseError
from reflet.gotext.durations import parse_duration
from reflet.play.actions import Document

ANNOTATION: Final = "reflet.dev/play"


class ScriptStep(NamedTuple):
    """``run``, ``unready``, ``pending``, or ``exit`` with a code after so many seconds."""

    how: str
    code: int = 0
    after: float = 0.0


Script: TypeAlias = tuple[ScriptStep, ...]

RUN: Final[Script] = (ScriptStep("run"),)
COMPLETE: Final[Script] = (ScriptStep("exit"),)


def parse_script(text: str) -> Script:
    """Read a script; ConfigurationError names the step that is none."""
    return tuple(_step(step.split(), text) for step in text.split(","))


def _step(words: list[str], text: str) -> ScriptStep:
    cause: Exception | None = None
    try:
        match words:
            case ["run" | "unready" | "pending" as how]:
                return ScriptStep(how)
            case ["exit", code, *rest] if code.isdecimal() and int(code) < 256:
                if not rest:
                    return ScriptStep("exit", int(code))
                if rest[0] == "after" and len(rest) == 2:
                    return ScriptStep("exit", int(code), parse_duration(rest[1]))
    except (ParseError, ValueError) as error:
        cause = error
    raise ConfigurationError(
        f"{' '.join(words)!r} in the script {text!r} is no step: expected run, unready, pending, "
        "exit CODE or exit CODE after DURATION"
    ) from cause


@dataclass(frozen=True, slots=True)
class Outcome:
    """What containers of an image do.

    - *image*: name of the image; may have ``*`` and ``?``
    - *script*: what they do; see ``parse_script``
    """

    image: str
    script: str

    def __post_init__(self) -> None:
        parse_script(self.script)


def script_of(pod: Document, container: Document, outcomes: Iterable[Outcome]) -> Script:
    """What a container does: as its image is told to, or its pod, or as is usual for its kind."""
    for outcome in outcomes:
        if fnmatchcase(container.get("image", ""), outcome.image):
            return parse_script(outcome.script)
    if container in pod["spec"].get("initContainers", ()):
        return RUN if container.get("restartPolicy") == "Always" else COMPLETE
    told = pod["metadata"].get("annotations", {}).get(ANNOTATION, "")
    if told:
        return parse_script(told)
    owners = pod["metadata"].get("ownerReferences", ())
    return COMPLETE if any(each["kind"] == "Job" for each in owners) else RUN
