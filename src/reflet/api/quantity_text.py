"""How structs hold quantities: as the text that was sent.

Owns: the marker by which the codec knows that a number may stand where the text of a quantity
is expected.  Must not know what quantities mean.
"""

from typing import Annotated


class MayBeNumber:
    """Marks text that manifests may write as a bare number: ``cpu: 1``."""


QuantityText = Annotated[str, MayBeNumber]
