"""What users' tests and our own need to make time and the outside world obey.

- ``virtual_time``: an event loop on which hours pass in milliseconds, and its clock
- ``scripted_source``: lists and watches as a script says, for whatever mirrors
- ``pytest_plugin``: fixtures for any project's tests: a Kubernetes API that starts in a moment
- ``server_options``: what a marker says about the server of a test
- ``server_thread``: a development server in a thread of its own
- ``kubectl``: the kubectl of this machine, for a development server

Fakes that behave, not mocks that know somebody's internals.  Nothing in the programs imports this
package, and only ``pytest_plugin`` and ``server_options`` know pytest.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.testing.kubectl import Kubectl, KubectlFailed, KubectlResult
    from reflet.testing.server_thread import RunningServer, running_server
    from reflet.testing.scripted_source import (
        After, Quiet, ScriptEnded, ScriptedSource, ScriptedWatch, added, bookmark, deleted, listing,
        modified,
    )
    from reflet.testing.virtual_time import (
        Deadlock, ManualClock, VirtualClock, VirtualTimeLoop, run,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.testing.kubectl": "Kubectl KubectlFailed KubectlResult",
        "reflet.testing.server_thread": "RunningServer running_server",
        "reflet.testing.scripted_source": (
            "After Quiet ScriptEnded ScriptedSource ScriptedWatch added bookmark deleted listing "
            "modified"
        ),
        "reflet.testing.virtual_time": "Deadlock ManualClock VirtualClock VirtualTimeLoop run",
    })

__all__ = [
    "After", "Deadlock", "Kubectl", "KubectlFailed", "KubectlResult", "ManualClock", "Quiet",
    "RunningServer", "ScriptEnded", "ScriptedSource", "ScriptedWatch", "VirtualClock",
    "VirtualTimeLoop", "added", "bookmark", "deleted", "listing", "modified", "run",
    "running_server",
]
