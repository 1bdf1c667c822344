from typing import get_args

from reflet.api.frozen import MayBeNumber, QuantityText


def test_a_quantity_is_text_that_may_be_written_as_a_number() -> None:
    assert get_args(QuantityText) == (str, MayBeNumber)
