"""Whether a pattern of somebody's schema may be tried on a value: in a time that can be borne.

The real server matches in linear time.  Python's engine tries alternatives one after the other, so
that ``(a+)+$`` on thirty letters takes a minute, and definitions come from repositories that nobody
here wrote.  A pattern that may take too long is not enforced.
"""

from __future__ import annotations

from functools import lru_cache

# There is no public way to look into a pattern.
from re import _constants, _parser  # type: ignore[attr-defined]  # see above
from typing import Any, Final

MOST_STEPS: Final = 20_000_000  # a second or two, in the worst case
_REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
_EVERYTHING: Final = frozenset(range(0x110))  # all that is told apart here: ASCII, and the rest


def steps_of(pattern: str, length: int) -> int:
    """Give the steps that trying the pattern can take; more than may be taken, if it is many."""
    try:
        repeats, entangled = _cost(pattern)
    except (RecursionError, OverflowError):
        return MOST_STEPS + 1
    if entangled:
        return int(2 ** min(length, MOST_STEPS.bit_length()))
    return int(min(max(length, 1) ** min(repeats, 30), MOST_STEPS + 1))


@lru_cache(maxsize=256)
def _cost(pattern: str) -> tuple[int, bool]:
    return _repeats(_parser.parse(pattern))


def _repeats(parsed: Any) -> tuple[int, bool]:
    """Count repeats without an end, and tell whether one is inside another that it can run into."""
    count, entangled = 0, False
    for operator, argument in parsed:
        if operator in _REPEATS:
            _, most, body = argument
            inside, inner = _repeats(body)
            endless = most == _constants.MAXREPEAT
            count += inside + endless
            entangled |= inner or (endless and inside > 0 and not _begins_apart(body))
            entangled |= endless and _has_branch(body)
        else:
            for part in _parts(operator, argument):
                inside, inner = _repeats(part)
                count += inside
                entangled |= inner
    return count, entangled


def _parts(operator: Any, argument: Any) -> list[Any]:
    if operator is _constants.SUBPATTERN:
        return [argument[3]]
    if operator is _constants.BRANCH:
        return list(argument[1])
    if operator in {_constants.ASSERT, _constants.ASSERT_NOT}:
        return [argument[1]]
    return []


def _flat(parsed: Any) -> list[Any]:
    """Return what is matched one after the other, groups dissolved."""
    found: list[Any] = []
    for operator, argument in parsed:
        if operator is _constants.SUBPATTERN:
            found += _flat(argument[3])
        else:
            found.append((operator, argument))
    return found


def _begins_apart(body: Any) -> bool:
    """Tell whether each round begins with a letter that no repeat inside takes."""
    first, *rest = _flat(body) or [(None, None)]
    begin = _letters(*first)
    if begin is None:
        return False
    return all(begin.isdisjoint(_taken(operator, argument)) for operator, argument in rest)


def _taken(operator: Any, argument: Any) -> frozenset[int]:
    if operator in _REPEATS:
        taken = frozenset[int]()
        for each in _flat(argument[2]):
            taken |= _taken(*each)
        return taken
    letters = _letters(operator, argument)
    return _EVERYTHING if letters is None else letters


def _letters(operator: Any, argument: Any) -> frozenset[int] | None:
    """Return the letters that one place takes, or ``None`` for anything else."""
    if operator is _constants.LITERAL:
        return frozenset({min(argument, 0x10F)})
    if operator is not _constants.IN:
        return None
    found = set[int]()
    for each, value in argument:
        if each is _constants.LITERAL:
            found.add(min(value, 0x10F))
        elif each is _constants.RANGE:
            found.update(range(min(value[0], 0x10F), min(value[1], 0x10F) + 1))
        else:
            return None
    return frozenset(found)


def _has_branch(body: Any) -> bool:
    return any(operator is _constants.BRANCH for operator, _ in _flat(body))


def refused_by_go(pattern: str) -> str:
    """Give the beginning of what Python can and Go cannot do: look around, refer back."""
    return _refused(_parser.parse(pattern))


def _refused(parsed: Any) -> str:
    for operator, argument in parsed:
        if operator in {_constants.ASSERT, _constants.ASSERT_NOT}:
            sign = "=" if operator is _constants.ASSERT else "!"
            return f"(?{'<' if argument[0] < 0 else ''}{sign}"
        if operator in {_constants.GROUPREF, _constants.GROUPREF_EXISTS}:
            return "\\"
        if operator in _REPEATS:
            inner = _refused(argument[2])
        else:
            inner = next(
                (found for part in _parts(operator, argument) if (found := _refused(part))), ""
            )
        if inner:
            return inner
    return ""
