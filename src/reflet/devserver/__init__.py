"""A Kubernetes API in one process, for development and tests, never for production.

Good enough for kubectl and the usual clients: it stores, validates, patches and tells watchers,
and runs no controllers.  It shares no code with the clients that are tested against it.
Everything runs on one event loop; storage calls are plain functions, and so atomic.

- ``server``: the running server, with its authority, its kubeconfig and its data
- ``faults``: what goes wrong on request, and the record of what was asked
- ``refusals``: every refusal, in the real server's words
- ``edge``: HTTP, TLS, credentials
- ``verbs``: what a request means, and what is done about it
- ``forms``: JSON, YAML and the tables that ``kubectl get`` prints
- ``patches``: from a patch to the new object, and who owns its fields
- ``admission``: defaults and rules, from what a client sends to what is stored
- ``kinds``: which kinds there are, their structure, and the documents that describe them
- ``watches``: one watch, and all of them
- ``storage``: the whole state with one counter of revisions, and the same in a SQLite file
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.devserver.faults import Action, Fault, Faults, RequestLog, SeenRequest
    from reflet.devserver.server import DevServer
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.devserver.faults": "Action Fault Faults RequestLog SeenRequest",
            "reflet.devserver.server": "DevServer",
        },
    )

__all__ = ["Action", "DevServer", "Fault", "Faults", "RequestLog", "SeenRequest"]
