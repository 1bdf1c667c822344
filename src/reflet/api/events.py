"""Events of the core group: what happened to an object.

Owns: Event.  Events of a watch stream are another thing: watch_events.py.
"""

from typing import ClassVar, Literal

from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, ObjectReference, TypedObject
from reflet.api.micro_time import MicroTime, Time


class EventSource(Frozen, frozen=True, kw_only=True):
    """Who noticed."""

    component: str = ""
    host: str = ""


class EventSeries(Frozen, frozen=True, kw_only=True):
    """How often it went on happening."""

    count: int = 0
    last_observed_time: MicroTime | None = None


class Event(TypedObject, frozen=True, kw_only=True):
    """Something that happened to ``involved_object``."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Event"] = constant("Event")
    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    count: int = 0
    type: str = ""
    event_time: MicroTime | None = None
    series: EventSeries | None = None
    action: str = ""
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""
