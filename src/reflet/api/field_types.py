"""Times that the API server reads only with six digits after the second.

Owns: ``MicroTime`` and its text.  Must not know which fields use it.

How structs hold quantities: as the text that was sent.

Owns: the marker by which the codec knows that a number may stand where the text of a quantity
is expected.  Must not know what quantities mean.
"""

from datetime import UTC, datetime
from typing import Annotated, Self

import msgspec

Time = Annotated[datetime, msgspec.Meta(tz=True)]
"""An RFC 3339 time with its zone: metav1.Time."""


class MicroTime(datetime):
    """metav1.MicroTime: a ``datetime`` with a zone that keeps its microseconds when written.

    Leases and events refuse ``…:05Z`` where they want ``…:05.000000Z``.
    """

    @classmethod
    def at(cls, moment: datetime) -> Self:
        """Return the same moment, in UTC; a moment without a zone is refused."""
        if moment.tzinfo is None:
            raise ValueError("a time without a time zone")
        moment = moment.astimezone(UTC)
        return cls.combine(moment.date(), moment.timetz())

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read an RFC 3339 time with any number of digits; raise ``ValueError`` for others."""
        try:
            moment: datetime = msgspec.convert(text, Time)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error
        return cls.at(moment)

    def text(self) -> str:
        """Return the time as the API server wants it: ``2026-01-02T03:04:05.000000Z``."""
        moment = self.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(timespec="microseconds") + "Z"


class MayBeNumber:
    """Marks text that manifests may write as a bare number: ``cpu: 1``."""


QuantityText = Annotated[str, MayBeNumber]
