from __future__ import annotations

import pytest

from reflet.devserver.patches.strategic_merge import ordered, positions


@pytest.mark.parametrize(
    ("items", "wanted", "before", "result"),
    [
        ("abc", "", "abc", "abc"),
        ("abc", "ca", "abc", "bca"),
        ("abcx", "x", "abc", "xabc"),
        ("abcdx", "cx", "abcd", "abcxd"),
        ("abxy", "xby", "ab", "xaby"),
        ("abc", "cba", "abc", "cba"),
        ("", "a", "", ""),
    ],
)
def test_the_patch_orders_its_items_and_the_others_stay_around_them(
    items: str, wanted: str, before: str, result: str
) -> None:
    assert "".join(ordered(items, wanted, before, str)) == result


def test_an_item_that_stands_twice_is_where_it_first_stands() -> None:
    assert positions("aba", str) == {"a": 0, "b": 1}


def test_long_lists_take_no_longer_than_their_length() -> None:
    names = [str(number) for number in range(50_000)]

    assert ordered(names, names[::-1], names, str) == names[::-1]
