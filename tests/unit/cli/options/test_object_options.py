from __future__ import annotations

from reflet.cli.commands.get import get
from reflet.cli.commands.watch import watch


def test_get_and_watch_take_the_same_flags_in_the_same_order() -> None:
    assert [each.opts for each in get.params] == [each.opts for each in watch.params]
