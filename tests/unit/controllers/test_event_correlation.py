from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from reflet.api.meta import ObjectReference
from reflet.controllers.event_correlation import (
    BURST,
    COMBINED,
    REMEMBERED,
    EventCorrelation,
    Happening,
)

POD = ObjectReference(kind="Pod", namespace="shop", name="web", uid="u1")


def happening(message: str = "boom", reason: str = "Failed", *, field_path: str = "") -> Happening:
    involved = replace(POD, field_path=field_path)
    return Happening(involved=involved, type="Warning", reason=reason, message=message)


def test_the_same_again_counts_up() -> None:
    events = EventCorrelation()

    told = [events.tell(happening(), now) for now in (0.0, 1.0, 2.0)]

    assert [(each.count, each.is_new) for each in told if each] == [
        (1, True),
        (2, False),
        (3, False),
    ]


def test_another_message_is_another_event() -> None:
    events = EventCorrelation()

    first, second = events.tell(happening("a"), 0), events.tell(happening("b"), 0)

    assert first is not None
    assert second is not None
    assert (first.is_new, second.is_new, first.key == second.key) == (True, True, False)


def messages(events: EventCorrelation, texts: Iterable[str]) -> list[str]:
    """How each of these was told, all at the same moment."""
    told = [events.tell(happening(text), 0.0) for text in texts]
    return [each.happening.message for each in told if each]


def test_from_the_tenth_that_is_alike_they_become_one() -> None:
    told = messages(EventCorrelation(), [f"number {number}" for number in range(1, 12)])

    assert told[8:] == ["number 9", f"{COMBINED}number 10", f"{COMBINED}number 11"]


def test_those_that_became_one_count_up_together() -> None:
    events = EventCorrelation()

    told = [events.tell(happening(f"number {number}"), 0.0) for number in range(12)]

    combined = [each for each in told if each and each.happening.message.startswith(COMBINED)]
    assert [each.count for each in combined] == [1, 2, 3]
    assert len({each.key for each in combined}) == 1


def test_one_that_was_told_by_itself_goes_on_by_itself() -> None:
    events = EventCorrelation()
    messages(events, [f"number {number}" for number in range(12)])

    again = events.tell(happening("number 3"), 1.0)

    assert again is not None
    assert (again.happening.message, again.count) == ("number 3", 2)


def test_the_same_again_does_not_make_others_one() -> None:
    events = EventCorrelation()

    assert COMBINED not in "".join(messages(events, ["boom"] * 20))


def test_containers_of_a_pod_are_alike_and_yet_told_apart() -> None:
    events = EventCorrelation()
    parts = [
        events.tell(happening(f"number {number}", field_path=f"spec.containers{{{number % 2}}}"), 0)
        for number in range(10)
    ]
    same = [events.tell(happening("x", "Pulled", field_path=path), 0) for path in ("a", "b")]

    assert parts[9] is not None
    assert parts[9].happening.message.startswith(COMBINED)
    assert [each.count for each in same if each] == [1, 1]


def test_what_is_alike_is_forgotten_after_ten_quiet_minutes() -> None:
    events = EventCorrelation()
    messages(events, [f"number {number}" for number in range(12)])

    within, later = (events.tell(happening("another"), moment) for moment in (600.0, 1200.1))

    assert within is not None
    assert within.happening.message == f"{COMBINED}another"
    assert later is not None
    assert later.happening.message == "another"


def test_an_object_has_only_so_many_events_and_gets_new_ones_slowly() -> None:
    events = EventCorrelation()
    for number in range(BURST):
        assert events.tell(happening(reason=f"R{number}"), 0.0) is not None

    assert events.tell(happening(reason="more"), 1.0) is None
    assert events.tell(happening(reason="more"), 301.0) is not None


def test_what_was_too_much_to_tell_is_counted_by_the_next_that_is_told() -> None:
    events = EventCorrelation()
    for _ in range(BURST + 5):
        events.tell(happening(), 0.0)

    told = events.tell(happening(), 300.0)

    assert told is not None
    assert (told.count, told.is_new) == (BURST + 6, False)


def test_a_quiet_day_does_not_give_an_object_more_than_a_fresh_one_has() -> None:
    events = EventCorrelation()
    events.tell(happening(), 0.0)

    told = [events.tell(happening(), 86400.0) for _ in range(BURST + 1)]

    assert [each is None for each in told] == [*([False] * BURST), True]


def test_other_objects_have_their_own() -> None:
    events = EventCorrelation()
    for number in range(BURST + 1):
        events.tell(happening(reason=f"R{number}"), 0.0)
    other = Happening(
        involved=ObjectReference(kind="Pod", name="other"), type="Normal", reason="R", message="m"
    )

    assert events.tell(other, 0.0) is not None


def test_what_is_forgotten_is_new_again() -> None:
    events = EventCorrelation()
    told = events.tell(happening(), 0.0)
    assert told is not None
    events.forget(told.key)

    again = events.tell(happening(), 1.0)

    assert again is not None
    assert again.is_new


def test_only_so_many_events_are_remembered_and_the_oldest_go_first() -> None:
    events = EventCorrelation()

    def of(name: str) -> Happening:
        involved = ObjectReference(kind="Pod", name=name)
        return Happening(involved=involved, type="Normal", reason="R", message="m")

    for number in range(REMEMBERED + 1):
        events.tell(of(f"pod {number}"), 0.0)

    last, first = events.tell(of(f"pod {REMEMBERED}"), 0.0), events.tell(of("pod 0"), 0.0)

    assert last is not None
    assert first is not None
    assert (last.count, first.count) == (2, 1)
