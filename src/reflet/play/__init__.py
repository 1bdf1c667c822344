"""What a cluster's controllers and kubelets would do, for the development server: ``--play``.

- ``play``: who plays, and a running play beside a server
- ``pod_scripts``: what containers do, in a grammar of one line

Clients of the server like any other: informers, decisions as pure functions, and one place that
writes.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.play.play import Play
    from reflet.play.pod_scripts import Outcome
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.play.play": "Play",
        "reflet.play.pod_scripts": "Outcome",
    })

__all__ = ["Outcome", "Play"]
