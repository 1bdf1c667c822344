"""How a package gives names without importing the modules that define them (PEP 562).

A name is imported when it is first asked for, so that ``import reflet`` costs next to nothing and
a program that only mirrors never loads the development server.  Every public room uses it in the
same way::

    if TYPE_CHECKING:
        from reflet.pleg.relist import Pleg
    else:
        __getattr__, __dir__ = lazy_exports(__name__, {"reflet.pleg.relist": "Pleg"})

    __all__ = ["Pleg"]

Type checkers and editors read the first branch and refuse a name that is not there, which they
would not do of a module with a visible ``__getattr__``.  That the three lists agree is checked by
``tests/architecture/test_public_names.py``.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from typing import Any


def lazy_exports(
    room: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the package called *room*.

    *homes* names the modules that define the exports: ``{"module": "Name OtherName"}``.  What has
    the room itself as its home is a module or a package inside it.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        if home == room:
            return import_module(f"{room}.{name}")
        value = getattr(import_module(home), name)
        setattr(modules[room], name, value)  # the next reader finds it without coming here
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[room]), *home_of})

    return get, names
