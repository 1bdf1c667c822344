"""What a marker says about a test's server: ``@pytest.mark.reflet_server(load=["app.yaml"])``.

The options are those of ``DevServer``, and ``faults``.  The marker nearest to the test decides,
option by option: one of a function before that of its class, and that before the module's.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARKER: Final = "reflet_server"
OPTIONS: Final = (
    *("data_dir", "faults", "host", "kubeconfig", "load", "play", "port", "tls", "token"),
)
"""Those of ``DevServer`` and our own, by name: looking there would import the server."""


def check_marker(item: pytest.Item) -> None:
    """Refuse a marker that nobody would understand."""
    for marker in item.iter_markers(MARKER):
        wrong = ", ".join(repr(name) for name in sorted(marker.kwargs.keys() - set(OPTIONS)))
        if marker.args:
            wrong = "arguments without a name"
        if wrong:
            known = ", ".join(OPTIONS)
            raise pytest.UsageError(
                f"{item.nodeid}: the marker {MARKER} has no {wrong}; it has {known}"
            )


def marked_options(item: Any) -> dict[str, Any]:
    """Give what the markers of a test say, ready for ``DevServer`` but for ``faults``."""
    options: dict[str, Any] = {}
    for marker in item.iter_markers(MARKER):
        options = {**marker.kwargs, **options}
    if "load" in options:
        options["load"] = tuple(_beside(item.path, options["load"]))
    if isinstance(options.get("play"), str):
        # By its name: it is a client of the server, and this package needs none.
        options["play"] = import_module("reflet.play").Play.parse(options["play"])
    return options


def _beside(test: Path, sources: Iterable[str | Path | Mapping[str, Any]]) -> Iterable[Any]:
    """Find files beside the test that names them."""
    for source in [sources] if isinstance(sources, str | Path) else sources:
        yield test.parent / source if isinstance(source, str | Path) else source
